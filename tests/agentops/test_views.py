"""Pages that belong to no app: preferences, the demo's sign-in and mail, errors."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db


@pytest.fixture
def demo(settings):
    settings.AGENTOPS_DEMO = True


def test_home_is_the_inbox_for_who_decides_and_the_runs_for_others(client, people):
    client.force_login(people.operator)
    assert client.get("/")["Location"] == reverse("reviews:inbox")

    client.force_login(people.submitter)
    assert client.get("/")["Location"] == reverse("runs:list")


def test_the_theme_is_in_the_markup_so_that_nothing_flashes(client):
    client.post(reverse("preferences"), {"theme": "dark", "next": "/runs/"})

    page = client.get(reverse("login")).content.decode()

    assert 'data-theme="dark"' in page


@pytest.mark.parametrize(
    "to", ["https://example.com/", "//example.com", "javascript:1", "NaN", "runs:list"]
)
def test_preferences_never_lead_away(client, to):
    answer = client.post(reverse("preferences"), {"theme": "pink", "next": to})

    assert answer["Location"] == "/"
    assert "theme" not in answer.cookies


def test_sample_sign_ins_exist_only_in_the_demo(client, people):
    answer = client.post(reverse("demo-sign-in"), {"name": "admin"})

    assert answer.status_code == 404
    assert b"This is the demo" not in client.get(reverse("login")).content
    client.force_login(people.admin)
    assert client.get(reverse("demo-mail")).status_code == 404


def test_the_demo_signs_its_sample_people_in(client, people, demo):
    page = client.get(reverse("login")).content
    answer = client.post(reverse("demo-sign-in"), {"name": "operator"})

    assert b"This is the demo" in page
    assert answer.status_code == 302
    assert client.get(reverse("runs:list")).context["user"] == people.operator


def test_the_demo_signs_nobody_else_in(client, people, demo):
    answer = client.post(reverse("demo-sign-in"), {"name": "other-operator"})

    assert answer.status_code == 404


def test_the_demo_shows_the_mail_it_sent(client, people, demo, settings, tmp_path):
    settings.EMAIL_FILE_PATH = str(tmp_path)
    client.force_login(people.submitter)

    assert b"No mail yet" in client.get(reverse("demo-mail")).content


def test_a_form_without_its_token_gets_a_page_that_says_what_to_do():
    answer = Client(enforce_csrf_checks=True).post(reverse("preferences"))

    assert answer.status_code == 403
    assert b"This form did not come from here" in answer.content


def test_the_page_for_a_broken_page_needs_no_database(rf, django_db_blocker):
    from django.views.defaults import server_error

    with django_db_blocker.block():
        answer = server_error(rf.get("/"))

    assert answer.status_code == 500
    assert b"Something broke on our side" in answer.content


@pytest.mark.parametrize(
    "name",
    ["login", "password_reset", "password_reset_done", "password_reset_complete"],
)
def test_the_pages_around_signing_in_are_ours(client, name):
    assert b"topbar" in client.get(reverse(name)).content


def test_no_page_has_script_or_style_in_it(client):
    page = client.get(reverse("login")).content.decode()

    assert "style=" not in page
    assert "<script>" not in page
    assert "onclick" not in page


def test_pages_without_an_icon_of_their_own_get_ours(client):
    assert client.get("/favicon.ico")["Location"].endswith("img/favicon.svg")


@pytest.fixture
def away(monkeypatch):
    """A database that lets nobody read who has signed in."""

    def refuse(*_):
        raise OperationalError("database or disk is full\nmore of it")

    monkeypatch.setattr("django.contrib.sessions.backends.db.SessionStore.load", refuse)
    client = Client(raise_request_exception=False)
    client.cookies["agentops_session"] = "x" * 32
    return client


def test_a_database_that_is_away_is_said_on_the_page_and_in_one_line(away, caplog):
    answer = away.get("/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert b"The database cannot be used right now" in answer.content
    (record,) = caplog.records
    assert record.getMessage() == (
        "/: the database cannot be used: database or disk is full"
    )
    assert record.exc_info is None
