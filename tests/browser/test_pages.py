"""Every page in a real browser: light and dark, wide and narrow, for everybody."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.story import Story
from tests.browser.visit import (
    NARROW,
    WIDE,
    Theme,
    addresses,
    barriers,
    sideways,
    visit,
)
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

WAYS: list[tuple[Theme, dict[str, int]]] = [("light", NARROW), ("dark", WIDE)]


def test_no_page_has_barriers_or_scrolls_sideways(
    chromium: Browser, told: tuple[LiveProject, Story]
) -> None:
    project, story = told

    found = {
        where: wrong
        for theme, size in WAYS
        for where, wrong in _troubles(chromium, project, story, theme, size)
    }

    assert found == {}


def _troubles(
    browser: Browser,
    project: LiveProject,
    story: Story,
    theme: Theme,
    size: dict[str, int],
) -> Iterator[tuple[str, list[str]]]:
    """(page, what is wrong with it) for the pages with anything wrong."""
    pages = addresses(story)
    for who in ("operator", "submitter", ""):
        with visit(browser, project, who, size=size, theme=theme) as page:
            for name, (whose, address) in pages.items():
                if whose != who:
                    continue
                page.goto(address)
                wrong = barriers(page)
                if pixels := sideways(page):
                    wrong.append(f"{pixels} pixels too wide")
                if wrong:
                    yield f"{name}, {theme}, {size['width']} px", wrong


def test_deciding_works_without_script(
    chromium: Browser, told: tuple[LiveProject, Story]
) -> None:
    project, story = told

    with visit(chromium, project, "operator", script=False) as page:
        page.goto(f"/reviews/{story.question.id}/")
        page.get_by_role("button", name="Answer", exact=True).click()
        page.get_by_label("Or in your own words").fill("The newer one.")
        page.locator("#decide-answer").get_by_role("button", name="Answer").click()

        page.get_by_text("Answered by you").first.wait_for()
