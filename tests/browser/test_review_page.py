"""An item's page in a real browser: read at a glance, alive, and nothing typed is lost."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.story import Story
from tests.browser.visit import NARROW, Theme, barriers, sideways, visit
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

DESK = {"width": 1440, "height": 900}
WAYS: list[tuple[Theme, dict[str, int]]] = [("light", DESK), ("dark", NARROW)]
"""The other two are looked at with all other pages, see `test_pages`."""
SOON_MS = 20_000
PARTS = ("why", "what", "happened-title", "like", "budget", "notes-title")


def test_an_item_is_read_at_a_glance_by_everybody(
    chromium: Browser, told: tuple[LiveProject, Story]
) -> None:
    project, story = told
    shown = (story.parked, story.budget, story.question, story.decided)

    found = []
    for theme, size in WAYS:
        with visit(chromium, project, "operator", size=size, theme=theme) as page:
            for review in shown:
                page.goto(f"/reviews/{review.id}/")
                found += [(theme, size, wrong) for wrong in barriers(page)]
                assert sideways(page) == 0
            page.goto(f"/reviews/{story.parked.id}/")
            if size is DESK:
                assert_no_need_to_scroll(page)
            else:
                assert_in_order_above_a_fixed_bar(page)
            assert_nothing_is_covered_at_the_end(page)

    assert found == []


def assert_no_need_to_scroll(page: Page) -> None:
    """Why, what and the bar are there whole, on the first screen."""
    bar = box(page, "section.bar")
    for part in ("why", "what"):
        of = box(page, f"section[aria-labelledby={part}] > .box")
        assert of["y"] + of["height"] <= bar["y"], part
    assert bar["y"] + bar["height"] <= DESK["height"]
    assert page.locator(".why .chart").is_visible()
    assert "September 2024 1,895,000, up 37.3 percent, above" in (
        page.locator(".why .chart").get_attribute("aria-label") or ""
    )


def assert_in_order_above_a_fixed_bar(page: Page) -> None:
    tops = [box(page, f"#{part}")["y"] for part in PARTS]
    assert tops == sorted(tops)
    before = box(page, "section.bar")["y"]
    page.evaluate("scrollTo({top: 600, behavior: 'instant'})")
    assert page.evaluate("scrollY") > 300
    bar = box(page, "section.bar")
    assert bar["y"] == pytest.approx(before, abs=1)
    assert bar["y"] + bar["height"] == pytest.approx(NARROW["height"], abs=1)


def assert_nothing_is_covered_at_the_end(page: Page) -> None:
    whole = "document.documentElement.scrollHeight"
    page.evaluate(f"scrollTo({{top: {whole}, behavior: 'instant'}})")
    bar = box(page, "section.bar")
    for last in ("main .stack > :last-child", "main .aside > :last-child"):
        of = box(page, last)
        assert of["y"] + of["height"] <= bar["y"], last


def box(page: Page, selector: str) -> dict[str, Any]:
    found = page.locator(selector).first.bounding_box()
    assert found is not None, selector
    return dict(found)


def test_reviewers_talk_and_decide_beside_each_other(
    chromium: Browser, told: tuple[LiveProject, Story]
) -> None:
    project, story = told
    address = f"/reviews/{story.parked.id}/"
    with (
        visit(chromium, project, "operator", size=DESK) as ana,
        visit(chromium, project, "admin", size=DESK) as ben,
    ):
        ana.goto(address)
        ben.goto(address)
        ben.get_by_label("Add a note").fill("I am still writing")

        ana.get_by_label("Add a note").fill("Sales closed a deal on <18> September.")
        ana.get_by_role("button", name="Add note").click()

        expect(ana.get_by_label("Add a note")).to_have_value("")
        expect(ana.locator("#notes li")).to_contain_text("Sales closed a deal on <18>")
        seen = ben.locator("#notes li")
        expect(seen).to_contain_text("operator", timeout=SOON_MS)
        expect(ben.get_by_label("Add a note")).to_have_value("I am still writing")

        ben.keyboard.press("Escape")
        ben.locator(".bar [popovertarget=decide-guide]").click()
        words = ben.locator("#decide-guide textarea").first
        words.fill("Long words of Ben")
        take_over(ana)
        reject(ana)
        expect(ben.locator("#changed")).to_contain_text("Rejected by", timeout=SOON_MS)
        expect(words).to_have_value("Long words of Ben")
        expect(words).to_be_visible()

        ana.goto(address)
        ana.get_by_label("Add a note").fill("For the record.")
        ana.get_by_role("button", name="Add note").click()
        expect(ana.locator("#notes")).to_contain_text("For the record.")


def take_over(page: Page) -> None:
    """Who types holds the item, so another person decides only after this."""
    expect(page.get_by_text("admin holds this")).to_be_visible(timeout=SOON_MS)
    page.keyboard.press("c")
    page.locator("#take-over-reason").fill("It is urgent.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You hold this")).to_be_visible(timeout=SOON_MS)


def reject(page: Page) -> None:
    page.keyboard.press("r")
    sheet = page.locator("#decide-reject")
    sheet.get_by_label("In your own words").fill("Wrong quarter.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".bar-done")).to_contain_text("Rejected by you")


def test_a_note_needs_no_script_and_is_kept_when_it_is_refused(
    chromium: Browser, told: tuple[LiveProject, Story]
) -> None:
    project, story = told

    with visit(chromium, project, "operator", script=False) as page:
        page.goto(f"/reviews/{story.question.id}/")
        page.get_by_label("Add a note").fill("Ask legal.")
        page.get_by_role("button", name="Add note").click()

        expect(page.locator("#notes li")).to_contain_text("Ask legal.")
        page.get_by_label("Add a note").fill("   ")
        page.get_by_role("button", name="Add note").click()
        expect(page.get_by_role("alert")).to_contain_text("Write something first.")


def test_the_steps_go_on_after_a_decision_and_folds_stay_open(
    chromium: Browser, told: tuple[LiveProject, Story]
) -> None:
    project, story = told
    project.terminate("worker")
    with visit(chromium, project, "operator", size=DESK) as page:
        page.goto(f"/reviews/{story.parked.id}/")
        reject(page)
        page.locator("#fold-2 summary").click()
        page.locator("#fold-2").get_by_text("Show the exact prompt").click()
        page.locator("#prompt-2").get_by_text("The exact prompt").wait_for()
        steps = page.locator("#happened .step").count()
        page.evaluate("window.isSamePage = true")

        project.start_worker()

        expect(page.locator(f"#step-{steps + 1}")).to_be_visible(timeout=SOON_MS)
        expect(page.locator("#fold-2")).to_have_attribute("open", "")
        expect(page.locator("#prompt-2")).to_contain_text("The exact prompt")
        expect(page.locator("#after a")).to_have_text(
            "Read and decide", timeout=SOON_MS
        )
        expect(page.locator("#happened[hx-get]")).to_have_count(0, timeout=SOON_MS)
        assert page.evaluate("window.isSamePage")
