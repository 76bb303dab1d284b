"""Opening pages of a live project as one of its people, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Browser, ConsoleMessage, Error, Page

from tests.browser.story import Story
from tests.support.project import LiveProject
from tests.support.signed_in import cookies_of

Theme = Literal["light", "dark"]
WIDE = {"width": 1440, "height": 1000}
NARROW = {"width": 360, "height": 780}
EXPECTED_STATUSES = ("403", "404", "405", "409", "422")
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@contextmanager
def visit(
    browser: Browser,
    project: LiveProject,
    name: str = "",
    *,
    size: dict[str, int] | None = None,
    theme: Theme = "light",
    script: bool = True,
    expects: Sequence[str] = (),
) -> Iterator[Page]:
    """A page of its own context, signed in as `name`; fails on any script error.

    The story signs in by the form; here a session is made, which takes no time.

    `expects` are parts of messages that are no trouble here.
    """
    context = browser.new_context(
        viewport=size or WIDE,  # type: ignore[arg-type] # a TypedDict of these keys
        color_scheme=theme,
        java_script_enabled=script,
        base_url=project.url,
    )
    if name:
        context.add_cookies(_cookies(project, name))
    page = context.new_page()
    troubles = _listen(page, expects)
    yield page
    context.close()
    assert troubles == [], troubles


def _cookies(project: LiveProject, name: str) -> Any:
    """Those of a new session of theirs."""
    found = cookies_of(User.objects.get(username=name))
    return [{"name": n, "value": v, "url": project.url} for n, v in found.items()]


def _listen(page: Page, expects: Sequence[str]) -> list[str]:
    troubles: list[str] = []

    def note(message: ConsoleMessage) -> None:
        known = [f"status of {status}" for status in EXPECTED_STATUSES]
        is_expected = any(part in message.text for part in [*known, *expects])
        if message.type == "error" and not is_expected:
            troubles.append(message.text)

    def broke(error: Error) -> None:
        troubles.append(str(error))

    page.on("console", note)
    page.on("pageerror", broke)
    return troubles


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate(SIDEWAYS))


def barriers(page: Page) -> list[str]:
    """Serious and critical findings of axe, one line each."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['target']} {node.get('failureSummary', '')}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]


def addresses(story: Story) -> dict[str, tuple[str, str]]:
    """Every kind of page: its name, and (whose, address)."""
    done, parked = story.done.id, story.parked.id
    return {
        "inbox": ("operator", "/reviews/"),
        "decided items": ("operator", "/reviews/?view=decided"),
        "an empty view": ("operator", "/reviews/?view=mine"),
        "a review": ("operator", f"/reviews/{parked}/"),
        "a question": ("operator", f"/reviews/{story.question.id}/"),
        "a budget": ("operator", f"/reviews/{story.budget.id}/"),
        "a decided review": ("operator", f"/reviews/{story.decided.id}/"),
        "a decision by GET": ("operator", f"/reviews/{parked}/decide/approve/"),
        "runs": ("operator", "/runs/"),
        "no runs": ("operator", "/runs/?q=nothing-has-this"),
        "a run that is done": ("submitter", f"/runs/{done}/"),
        "a parked run": ("submitter", f"/runs/{story.parked.run_id}/"),
        "a run with retries": ("submitter", f"/runs/{story.retried.id}/"),
        "a step": ("submitter", f"/runs/{done}/steps/2/"),
        "steps": ("submitter", f"/runs/{done}/steps/?before=5"),
        "a new task": ("submitter", "/runs/new/?agent=quarterly-metrics"),
        "mail": ("submitter", "/demo/mail/"),
        "nothing": ("submitter", "/runs/00000000-0000-0000-0000-000000000000/"),
        "not permitted": ("submitter", "/reviews/"),
        "a profile": ("submitter", "/reviews/profile/"),
        "password": ("submitter", "/accounts/password_change/"),
        "sign in": ("", "/accounts/login/"),
        "reset": ("", "/accounts/password_reset/"),
    }
