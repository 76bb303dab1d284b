"""Each further form of a decision, with and without script, by keys and by pointer."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from reviews.models import Decision, Review
from runs.models import Effect, Run
from runs.states import RunState
from tests.browser.story import park
from tests.browser.visit import NARROW, barriers, sideways, visit
from tests.support.project import LiveProject
from tests.support.wait import wait_until

pytestmark = pytest.mark.browser

SETTLED_MS = 350  # a sheet sends nothing before it has been open for a moment
SUPPLY, PLAN = "Supply the result", "Edit the plan"
RETRY = "Retry from an earlier step"


def open_sheet(page: Page, review: Review, words: str) -> None:
    """By the button on the bar, or the one in its menu."""
    page.goto(f"/reviews/{review.pk}/")
    button = page.get_by_role("button", name=words).first
    if not button.is_visible():
        page.locator(".bar-more > summary").click()
    button.click()


def sheet(page: Page, kind: str) -> Locator:
    return page.locator(f"#decide-{kind}")


def rests(run: Run, state: RunState) -> Run:
    wait_until(
        lambda: Run.objects.get(pk=run.pk).state == state,
        timeout_s=60,
        what=f"a run being {state.label}",
    )
    return Run.objects.get(pk=run.pk)


def payload(review: Review) -> dict[str, Any]:
    return Decision.objects.get(review=review).payload


def test_a_reason_is_chosen_and_said_in_own_words(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()

    with visit(chromium, project, "operator") as page:
        page.goto(f"/reviews/{review.pk}/")
        page.keyboard.press("r")
        form = sheet(page, "reject")
        expect(form).to_be_visible()
        page.wait_for_timeout(SETTLED_MS)
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Choose a reason, or say it")).to_be_visible()
        again = page.locator("#correcting")
        again.get_by_label("The facts or figures are not right.").check()
        again.get_by_label("In your own words").fill("September is too high.")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".bar-done")).to_contain_text("Rejected by you")
        expect(page.locator(".bar-done")).to_contain_text("September is too high.")

    assert payload(review) == {
        "preset": "facts",
        "text": "The facts or figures are not right. September is too high.",
    }


def test_what_was_done_by_hand_is_told_without_script(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()

    with visit(chromium, project, "operator", size=NARROW, script=False) as page:
        open_sheet(page, review, SUPPLY)
        form = sheet(page, "supply")
        expect(form).to_be_visible()
        assert sideways(page) == 0
        form.get_by_label("JSON").check()
        form.get_by_label("What came of it").fill("{odd")
        form.get_by_role("button", name=SUPPLY).click()
        expect(page.get_by_text("This is not JSON")).to_be_visible()
        again = page.locator("#correcting")
        again.get_by_label("What came of it").fill('{"sent": true}')
        again.get_by_role("button", name=SUPPLY).click()
        expect(page.locator(".bar-done")).to_contain_text("Result supplied by you")

    rests(review.run, RunState.COMPLETED)
    assert not [mail for mail in project.mails() if "Q3 2024" in mail]
    assert Effect.objects.get(run=review.run_id).result == {"sent": True}


def test_the_plan_is_edited_line_by_line(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()

    with visit(chromium, project, "operator", theme="dark") as page:
        open_sheet(page, review, PLAN)
        form = sheet(page, "plan")
        expect(form.locator(".plan-done")).to_contain_text("done")
        assert barriers(page) == []
        form.get_by_role("button", name=PLAN).click()
        expect(page.get_by_text("Nothing has changed yet.")).to_be_visible()
        again = page.locator("#correcting")
        again.get_by_label("What is left to do").fill("Only report the figures")
        again.get_by_label("Why").fill("No mail today.")
        again.get_by_role("button", name=PLAN).click()
        expect(page.locator(".bar-done")).to_contain_text("Plan changed by you")

    plan = Run.objects.get(pk=review.run_id).plan
    assert plan[-1]["text"] == "Only report the figures"


def test_an_edit_is_previewed_without_script(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()

    with visit(chromium, project, "operator", size=NARROW, script=False) as page:
        page.goto(f"/reviews/{review.pk}/")
        page.get_by_role("button", name="Edit").first.click()
        form = sheet(page, "edit")
        form.get_by_label("Subject").fill("Q3, confirmed")
        form.get_by_role("button", name="Show what changes").click()
        again = page.locator("#correcting")
        expect(again.locator(".diff ins")).to_have_text("Subject: Q3, confirmed")
        assert sideways(page) == 0
        again.get_by_role("button", name="Edit and approve").click()
        expect(page.locator(".bar-done")).to_contain_text("Edited and approved by you")
        expect(page.get_by_role("heading", name="What was changed")).to_be_visible()
        expect(page.locator(".diff ins").first).to_have_text("Subject: Q3, confirmed")


def test_guidance_is_kept_and_a_retried_run_has_nothing_done_twice(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()

    with visit(chromium, project, "operator", script=False) as page:
        page.goto(f"/reviews/{review.pk}/")
        page.get_by_role("button", name="Approve and send").first.click()
        form = sheet(page, "approve")
        form.get_by_text("Once, or from now on").click()
        form.get_by_label("From now on: for every run of").check()
        form.get_by_label("For how many days").fill("30")
        form.get_by_role("button", name="Approve and send").click()
        expect(page.get_by_text("Say what is to hold from now on.")).to_be_visible()
        again = page.locator("#correcting")
        again.get_by_label("Note to the agent").fill("Always name the region.")
        again.get_by_role("button", name="Approve and send").click()
        expect(page.locator(".bar-done")).to_contain_text("for 30 days")
        rests(review.run, RunState.COMPLETED)

        page.goto(f"/runs/{review.run_id}/")
        page.locator("#step-9 summary").click()
        page.locator("#step-9").get_by_role("link", name="Retry from here").click()
        expect(page.get_by_text("What has been done outside")).to_be_visible()
        page.get_by_role("button", name="Retry from step 9").click()
        expect(page.get_by_text("Forked from").first).to_be_visible()

    fork = rests(Run.objects.get(forked_from=review.run_id), RunState.AWAITING_HUMAN)
    with visit(chromium, project, "operator", theme="dark") as page:
        open_sheet(page, Review.objects.get(run=fork), RETRY)
        sheet(page, "fork").get_by_label("Do again, from").select_option("9")
        sheet(page, "fork").get_by_role("button", name=RETRY).click()
        page.locator(".bar-done").wait_for()
        expect(page.locator(".bar-done")).to_contain_text("Forked by you")
        page.get_by_role("link", name="run ").last.click()
        expect(page.get_by_text("Forked from").first).to_be_visible()
        assert barriers(page) == []

    second = rests(Run.objects.get(forked_from=fork), RunState.AWAITING_HUMAN)
    with visit(chromium, project, "operator") as page:
        page.goto(f"/reviews/{Review.objects.get(run=second).pk}/")
        page.keyboard.press("a")
        page.wait_for_timeout(SETTLED_MS)
        page.keyboard.press("Control+Enter")
        page.locator(".bar-done").wait_for()
        rests(second, RunState.COMPLETED)
        page.goto(f"/runs/{second.pk}/")
        expect(page.get_by_text("served from the ledger")).to_be_visible()

    later = rests(park().run, RunState.AWAITING_HUMAN)
    assert later.guidance == ["Always name the region."]
    assert len([mail for mail in project.mails() if "Q3 2024" in mail]) == 1


@pytest.mark.parametrize("size", [None, NARROW], ids=["wide", "narrow"])
def test_no_form_has_barriers(
    chromium: Browser, project: LiveProject, size: dict[str, int] | None
) -> None:
    review = park()

    found = {}
    with visit(chromium, project, "operator", size=size) as page:
        page.goto(f"/reviews/{review.pk}/")
        for kind in page.locator(".sheet[id^=decide]").evaluate_all(
            "all => all.map(one => one.id)"
        ):
            page.evaluate("id => document.getElementById(id).showPopover()", kind)
            found[kind] = (barriers(page), sideways(page))
            page.evaluate("id => document.getElementById(id).hidePopover()", kind)

    assert {kind: wrong for kind, wrong in found.items() if wrong != ([], 0)} == {}
