"""No form is taken that another site has made its person send."""

from __future__ import annotations

import pytest
from django.middleware.csrf import get_token
from django.test import Client, RequestFactory
from django.urls import reverse

from tests.support.factory import PASSWORD
from tests.web import table
from tests.web.asking import ask

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RIGHTS = table.rights(table.PAGES) | table.rights(table.ADMIN)
POST = [address for address, method in RIGHTS if method == "POST"]
EVIL = "https://evil.example"


def refused(here, role, *, secure=False, forged=(), **headers):
    """What is answered otherwise than with 403, or has changed a row; one line each."""
    client, found = here.client(role, enforce_csrf_checks=True), []
    client.get("/accounts/login/", secure=secure)
    for pattern in POST:
        sent = here.sent(pattern, role) | dict(forged)
        path = here.path(pattern, role)
        answer = ask(client, "POST", path, sent, headers=headers, secure=secure)
        if answer.shown != "403":
            found.append(f"{pattern}: {answer.shown}")
    return found


@pytest.mark.parametrize("role", ["nobody", "decider", "admin"])
def test_nothing_is_taken_without_a_token(here, role):
    assert refused(here, role) == []


def test_nothing_is_taken_with_the_token_of_another_session(here):
    theirs = get_token(RequestFactory().get("/"))

    assert refused(here, "admin", forged={"csrfmiddlewaretoken": theirs}) == []


@pytest.mark.parametrize(
    "headers", [{"Origin": EVIL}, {"Referer": f"{EVIL}/"}, {"Origin": "null"}, {}]
)
def test_nothing_is_taken_that_comes_from_elsewhere(here, headers):
    assert refused(here, "admin", secure=True, **headers) == []


# A form of ours that came at the wrong time

OURS = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}


def note(client, here, token="", **headers):
    sent = {"text": "Look at <row> 3.", "csrfmiddlewaretoken": token}
    path = reverse("reviews:notes", args=[here.review.pk])
    return client.post(path, sent, headers=OURS | headers)


@pytest.fixture
def strict(here):
    return here.client("decider", enforce_csrf_checks=True)


def test_a_form_that_was_open_while_one_signed_in_anew_can_be_sent_again(here, strict):
    answer = note(strict, here, token="a" * 64)

    page = answer.content.decode()
    assert answer.status_code == 403
    assert "Send this again" in page
    assert "signed in as <b>decider</b>" in page
    assert page.count("Look at &lt;row&gt; 3.") == 2
    token = answer.context["csrf_token"]
    assert note(strict, here, token=token).status_code == 302
    assert here.review.notes.get().text == "Look at <row> 3."


def test_what_another_person_typed_here_before_is_not_sent_in_ones_own_name(here):
    client = Client()
    for role in ("admin", "decider"):
        client.post(reverse("logout"))
        client.post(reverse("login"), {"username": role, "password": PASSWORD})
    client.handler.enforce_csrf_checks = True

    answer = note(client, here)

    page = answer.content.decode()
    assert answer.status_code == 403
    assert "It is not sent in your name" in page
    assert page.count("Look at &lt;row&gt; 3.") == 1
    assert "Send it again" not in page


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": EVIL},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "", "Origin": "null"},
        {"Sec-Fetch-Site": "", "Origin": EVIL},
    ],
)
def test_what_another_site_has_sent_is_not_offered_to_be_sent_again(
    here, strict, headers
):
    answer = note(strict, here, **headers)

    assert answer.status_code == 403
    assert b"did not come from here" in answer.content
    assert b"Look at" not in answer.content


def test_an_open_page_gets_the_token_that_holds(here, strict):
    answer = note(strict, here, **{"HX-Request": "true"})

    assert answer.status_code == 403
    assert answer["X-Person"] == str(here.people["decider"].pk)
    assert note(strict, here, token=answer["X-Token"]).status_code == 302


def test_pages_hear_of_the_token_while_they_are_open(here, strict):
    answer = strict.get(reverse("pulse"), headers={"HX-Request": "true"})

    assert note(strict, here, token=answer["X-Token"]).status_code == 302


def test_a_password_is_never_shown_again(strict):
    sent = {"old_password": "my old one", "new_password1": "my new one"}

    answer = strict.post(reverse("password_change"), sent, headers=OURS)

    assert answer.status_code == 403
    assert b"my old one" not in answer.content
    assert b"a password is not kept here" in answer.content


def test_who_is_signed_out_meanwhile_keeps_what_they_typed(here):
    client = here.client("nobody")
    back = f"http://testserver/reviews/{here.review.pk}/?view=mine"

    answer = note(client, here, Referer=back)

    page = answer.content.decode()
    assert answer.status_code == 401
    assert "You are signed out" in page
    assert "Look at &lt;row&gt; 3." in page
    assert f"next=%2Freviews%2F{here.review.pk}%2F%3Fview%3Dmine" in page


def test_the_way_back_never_leads_away(here):
    answer = note(here.client("nobody"), here, Referer=f"{EVIL}/page/")

    assert "evil" not in answer.content.decode()
