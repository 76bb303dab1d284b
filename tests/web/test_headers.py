"""Headers that browsers are to obey, on every answer there is."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from tests.web.asking import ask

pytestmark = [pytest.mark.django_db, pytest.mark.once]

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
}
ANSWERS = {
    "a page": ("GET", "/runs/", 200),
    "a page to sign in": ("GET", "/accounts/password_reset/", 200),
    "a part of a page": ("GET", "/pulse/", 200),
    "JSON": ("GET", "/runs/{run}/metrics.json", 200),
    "an admin page": ("GET", "/admin/", 200),
    "an address with nothing": ("GET", "/nowhere/", 404),
    "a refusal": ("POST", "/reviews/{review}/undo/", 409),
    "a method nobody sends": ("PUT", "/runs/", 405),
    "a redirect": ("GET", "/", 302),
    "a probe": ("GET", "/healthz", 200),
    "a file": ("GET", "/static/css/app.css", 200),
    "no file": ("GET", "/static/css/nowhere.css", 404),
}
BARE = {"a file", "no file", "a method nobody sends"}


@pytest.fixture
def answer(here):
    def give(name):
        method, path, status = ANSWERS[name]
        path = path.format(run=here.review.run_id, review=here.review.pk)
        response = ask(here.client("admin"), method, path).response
        assert response.status_code == status
        _close_file(response)
        return response

    return give


def _close_file(response: Any) -> None:
    """Not `close()`: that would end the request, and with it the test's connection."""
    for close in response._resource_closers:
        close()
    response._resource_closers.clear()


def missing(response):
    policy = set(response.headers.get("Content-Security-Policy", "").split("; "))
    wrong = {k: v for k, v in EVERYWHERE.items() if response.headers.get(k) != v}
    return wrong, POLICY ^ policy


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_has_the_headers(answer, name):
    response = answer(name)

    assert missing(response) == ({}, set())
    assert "camera=()" in response["Permissions-Policy"]


def test_a_page_that_breaks_has_them_too(here, monkeypatch):
    monkeypatch.setattr("runs.listing.choices_for", lambda user: 1 / 0)

    response = here.client("admin").get("/runs/")

    assert response.status_code == 500
    assert missing(response) == ({}, set())


def test_a_wrong_host_has_them_too(client, settings):
    settings.ALLOWED_HOSTS = ["agentops.example.com"]

    response = client.get("/runs/")

    assert response.status_code == 400
    assert missing(response) == ({}, set())


@pytest.mark.parametrize("name", [n for n in ANSWERS if n not in BARE])
def test_nothing_but_files_is_kept_by_a_cache(answer, name):
    assert "no-store" in answer(name)["Cache-Control"]


def test_json_and_parts_of_pages_say_what_they_are(answer):
    assert answer("JSON")["Content-Type"] == "application/json"
    assert answer("a probe")["Content-Type"] == "application/json"
    assert answer("a part of a page")["Content-Type"].startswith("text/html")


def test_files_are_kept_by_caches(answer):
    assert "no-store" not in answer("a file")["Cache-Control"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_need_no_tls_and_no_host_of_ours(client, settings, path):
    settings.ALLOWED_HOSTS = ["agentops.example.com"]
    settings.SECURE_SSL_REDIRECT = True

    assert client.get(path).status_code in {200, 503}
    assert client.get("/runs/", headers={"host": "agentops.example.com"})[
        "Location"
    ].startswith("https://")


def test_no_script_can_read_our_cookies_and_no_other_site_sends_them(client, here):
    client.post(reverse("login"), here.sent("accounts/login/", "nobody"))
    client.post(reverse("preferences"), {"theme": "dark"})

    cookies = {
        name: (c["httponly"], c["samesite"]) for name, c in client.cookies.items()
    }

    names = ["agentops_session", "agentops_csrf", "agentops_last", "theme"]
    assert cookies == dict.fromkeys(names, (True, "Lax"))
