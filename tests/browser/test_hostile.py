"""Hostile pages in a real browser, its guard against inline scripts taken away.

Nothing runs, nothing is asked of anybody else, and what htmx puts into a page once more
is made of the same as before.
"""

from __future__ import annotations

import mimetypes
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import Browser, Page, Route

from reviews import outbox
from runs import policy
from tests.support import acts, hostile
from tests.support.everywhere import pages
from tests.support.markup import Markup, dangers

pytestmark = [pytest.mark.browser, pytest.mark.django_db]

HOST = "agentops.test"
EACH = 1
"""Pages of a kind that are opened; of runs and items, one for each."""
WHOLE = frozenset({"/runs/0/", "/reviews/0/"})

ELEMENTS = """
  root => [...root.querySelectorAll("*")].map(element => [
    element.localName,
    Object.fromEntries([...element.attributes].map(one => [one.name, one.value])),
    Boolean(element.parentElement?.closest(".prose")),
  ])
"""
AGAIN = """
  main => {
    const html = main.innerHTML, twice = document.createElement("main");
    twice.innerHTML = html;
    document.body.append(twice);
    Idiomorph.morph(main, html, { morphStyle: "innerHTML" });
    htmx.process(main);
    return [html === twice.innerHTML, html === main.innerHTML];
  }
"""


@pytest.fixture
def told(client, tmp_path, monkeypatch) -> dict[str, str]:
    """Some pages of each kind, as the server answers them."""
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    policy.forget()
    with hostile.installed():
        hostile.tell(hostile.hostile, client)
        outbox.deliver()
        found = pages(client, ["<script>pwned()</script>"], _some())
        return {at: html for at, html in found if "<!doctype html>" in html}


def _some() -> Callable[[str], bool]:
    """Takes the first addresses of each kind, and none of the admin pages."""
    seen: Counter[str] = Counter()

    def is_one(address: str) -> bool:
        if "/admin/" in address or "(fragment)" in address:
            return False
        kind = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|\d+|\?.*", "0", address)
        seen[kind] += 1
        return seen[kind] <= EACH or kind in WHOLE

    return is_one


@pytest.fixture
def heard() -> dict[str, list[str]]:
    return {"ran": [], "asked": []}


@pytest.fixture
def page(chromium: Browser, told, heard) -> Iterator[Page]:
    """Serves the pages and our own files; everything else is noted and refused."""
    context = chromium.new_context(bypass_csp=True)
    page = context.new_page()
    page.expose_function("pwned", lambda what=None: heard["ran"].append(str(what)))
    page.on("dialog", lambda dialog: heard["ran"].append(dialog.message))

    def answer(route: Route) -> None:
        parts = urlsplit(route.request.url)
        number = parts.path.removeprefix("/told/")
        if parts.hostname != HOST:
            heard["asked"].append(route.request.url)
            route.abort()
        elif number.isdecimal():
            route.fulfill(
                body=list(told.values())[int(number)], content_type="text/html"
            )
        elif parts.path.startswith("/static/"):
            route.fulfill(**_static(parts.path))
        else:
            route.fulfill(status=204)

    context.route("**/*", answer)
    yield page
    context.close()


def _static(path: str) -> dict[str, Any]:
    file = settings.BASE_DIR / path.removeprefix("/")
    if not file.is_file():
        return {"status": 404}
    return {"body": file.read_bytes(), "content_type": mimetypes.guess_type(path)[0]}


def test_s01_nothing_runs_nothing_is_asked_and_nothing_is_forged(page, told, heard):
    wrong: dict[str, Any] = {}
    for number, address in enumerate(told):
        page.goto(f"http://{HOST}/told/{number}")
        page.wait_for_function("window.htmx && window.Idiomorph")
        same = page.locator("main").first.evaluate(AGAIN)
        page.evaluate("() => new Promise(requestAnimationFrame)")
        troubles = [*dangers(_markup(page)), *([] if all(same) else same)]
        wrong |= {address: troubles} if troubles else {}

    assert len(told) > 20
    assert wrong == {}
    assert heard == {"ran": [], "asked": []}


def _markup(page: Page) -> Markup:
    markup = Markup("")
    found = page.locator("html").evaluate(ELEMENTS)
    markup.elements = [(tag, attributes, prose) for tag, attributes, prose in found]
    return markup
