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


# How long one stays signed in

HOUR = 3600.0
POLLS = (
    "/pulse/",
    "/runs/rows/",
    "/runs/{run}/live/",
    "/runs/{run}/watch/",
    "/reviews/{review}/live/",
    "/reviews/{review}/happened/",
)


def is_in(client) -> bool:
    return client.get("/runs/").status_code == 200


def test_who_uses_the_pages_stays_signed_in(here, advance_clock):
    client = here.client("decider")

    for _ in range(5):
        advance_clock(11 * HOUR)
        assert is_in(client)


def test_who_does_not_is_signed_out(here, advance_clock):
    client = here.client("decider")

    advance_clock(12 * HOUR + 1)

    assert not is_in(client)


def test_after_a_week_one_signs_in_again(here, advance_clock):
    client = here.client("decider")

    for _ in range(16):
        advance_clock(10.5 * HOUR)
        is_in(client)
    advance_clock(0.1 * HOUR)

    assert not is_in(client)


@pytest.mark.parametrize("path", POLLS)
def test_a_page_that_asks_by_itself_keeps_nobody_signed_in(here, advance_clock, path):
    client = here.client("decider")
    path = path.format(run=here.review.run_id, review=here.review.pk)

    for _ in range(2):
        advance_clock(5 * HOUR)
        assert client.get(path, headers={"HX-Request": "true"}).status_code < 300
    advance_clock(3 * HOUR)

    assert not is_in(client)


@pytest.mark.parametrize(("act", "stays"), [("keep", False), ("claim", True)])
def test_a_claim_that_is_kept_keeps_nobody_signed_in(here, advance_clock, act, stays):
    client = here.client("decider")
    hold = f"/reviews/{here.review.pk}/hold/"

    advance_clock(8 * HOUR)
    client.post(hold, {"act": act})
    advance_clock(8 * HOUR)

    assert is_in(client) == stays


def test_a_page_writes_nothing_to_the_session(here, django_assert_max_num_queries):
    client = here.client("decider")

    with django_assert_max_num_queries(40) as asked:
        client.get("/runs/")

    assert [q for q in asked.captured_queries if "UPDATE" in q["sql"]] == []
