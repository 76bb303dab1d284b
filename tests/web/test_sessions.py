"""What a session is worth: no more than its person may do right now, and no longer."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

pytestmark = pytest.mark.django_db

AWAY = [
    "https://example.com/",
    "//example.com",
    "/\\example.com",
    "javascript:alert(1)",
]


def test_who_leaves_a_group_may_no_more_at_the_next_request(here):
    client = here.client("decider")
    review = reverse("reviews:detail", args=[here.review.pk])
    assert client.get(review).status_code == 200

    here.people["decider"].groups.get(name="desk").user_set.clear()

    assert client.get(review).status_code == 404


def test_who_is_no_longer_an_operator_finds_no_inbox(here):
    client = here.client("decider")
    assert client.get(reverse("reviews:inbox")).status_code == 200

    here.people["decider"].groups.clear()

    assert client.get(reverse("reviews:inbox")).status_code == 403


def test_who_is_no_longer_staff_finds_no_admin_pages(here):
    client = here.client("admin")
    assert client.get("/admin/").status_code == 200

    User.objects.filter(username="admin").update(is_staff=False)

    assert client.get("/admin/").status_code == 302


def test_a_new_password_ends_all_other_sessions(here):
    ours, theirs = here.client("other"), here.client("other")
    change = reverse("password_change")

    done = ours.post(change, here.sent("accounts/password_change/", "other"))

    assert done.status_code == 302
    assert ours.get(reverse("runs:list")).status_code == 200
    assert theirs.get(reverse("runs:list")).status_code == 302


def test_signing_in_begins_a_session_of_its_own(client, here):
    client.get(reverse("login"))
    session = client.session
    session["left"] = "by somebody"
    session.save()
    client.cookies["agentops_session"] = known = session.session_key

    client.post(reverse("login"), here.sent("accounts/login/", "nobody"))

    assert client.session.session_key != known


@pytest.mark.parametrize("to", AWAY)
def test_signing_in_never_leads_away(client, here, to):
    sent = here.sent("accounts/login/", "nobody") | {"next": to}

    assert client.post(reverse("login"), sent)["Location"] == "/"


@pytest.mark.parametrize("to", AWAY)
def test_no_other_door_leads_away(client, here, settings, to):
    settings.AGENTOPS_DEMO = True

    theme = client.post(reverse("preferences"), {"next": to})
    admin = client.get("/admin/login/", {"next": to})
    demo = client.post(reverse("demo-sign-in"), {"name": "admin", "next": to})

    assert theme["Location"] == demo["Location"] == "/"
    assert admin["Location"] == "/accounts/login/?next=/"


@pytest.mark.parametrize("host", ["evil.example", "localhost:80:80", "localhost@evil"])
def test_another_host_is_answered_by_no_page(client, settings, host):
    settings.ALLOWED_HOSTS = ["agentops.example.com"]

    assert client.get(reverse("login"), headers={"host": host}).status_code == 400


def test_a_forwarded_host_is_not_believed(client, settings, here):
    settings.ALLOWED_HOSTS = ["agentops.example.com"]
    told = {"host": "agentops.example.com", "X-Forwarded-Host": "evil.example"}

    page = client.get(reverse("login"), headers=told)

    assert page.status_code == 200
    assert b"evil.example" not in page.content
