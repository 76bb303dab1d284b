"""Deciding by keyboard, while another page watches the run."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Locator, Page, expect

from reviews.models import Profile, Review
from runs import metrics
from runs.models import Run
from tests.browser.story import NOTE, park
from tests.browser.visit import barriers, visit
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

A_WHILE_MS = 30_000


def submit(page: Page) -> Run:
    page.goto("/runs/new/?agent=quarterly-metrics")
    page.get_by_label("Send the summary to").focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/runs/*-*/")
    return Run.objects.get(pk=page.url.rstrip("/").split("/")[-1])


def test_a_run_parks_is_decided_by_keyboard_and_finishes(
    chromium: Browser, project: LiveProject
) -> None:

    with (
        visit(chromium, project, "submitter") as watching,
        visit(chromium, project, "operator") as deciding,
    ):
        run = submit(watching)
        watching.locator("#step-1 summary").click(timeout=A_WHILE_MS)
        waiting = watching.get_by_role("heading", name="Waiting for a person")
        waiting.wait_for(timeout=A_WHILE_MS)
        # The fold the reader opened is still open, many refreshes later.
        assert watching.locator("#step-1 details").get_attribute("open") is not None

        deciding.goto("/reviews/")
        # The first item is chosen: Enter opens it, and Esc leads back.
        deciding.keyboard.press("Enter")
        deciding.wait_for_url("**/reviews/*-*/")
        deciding.keyboard.press("Escape")
        deciding.wait_for_url("**/reviews/?item=*")
        deciding.keyboard.press("j")
        deciding.keyboard.press("Enter")
        deciding.wait_for_url("**/reviews/*-*/")
        deciding.keyboard.press("a")
        expect(deciding.get_by_label("Note to the agent").first).to_be_focused()
        deciding.keyboard.type(NOTE)
        deciding.keyboard.press("Control+Enter")
        deciding.get_by_text("Approved by you").wait_for()

        result = watching.get_by_role("heading", name="Result")
        result.wait_for(timeout=A_WHILE_MS)
        expect(watching.locator("#run")).to_contain_text("Completed")
        expect(watching.locator(".result")).to_contain_text("37.3 %")

    run.refresh_from_db()
    to_the_list = [mail for mail in project.mails() if "analytics@company.com" in mail]
    assert len(to_the_list) == 1
    assert metrics.summary(run)["human_escalations"] == 1


def test_keys_rest_while_one_types_and_can_be_turned_off(
    chromium: Browser, project: LiveProject
) -> None:

    with visit(chromium, project, "operator") as page:
        page.goto("/reviews/")
        legend = page.locator("#keys")
        page.keyboard.press("/")
        expect(page.get_by_label("Search titles")).to_be_focused()
        page.keyboard.press("?")
        expect(legend).to_be_hidden()
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(legend).to_be_visible()
        page.keyboard.press("Escape")

        page.get_by_label("operator: profile and settings").click()
        page.get_by_role("link", name="Profile").click()
        page.get_by_label("Single keys").uncheck()
        page.get_by_role("button", name="Keep these settings").click()
        page.get_by_text("Your settings are kept").wait_for()
        page.keyboard.press("?")
        expect(page.locator("#keys")).to_be_hidden()

    assert not Review.objects.exists()


def test_an_edit_shows_what_it_changes_before_it_is_sent(
    chromium: Browser, project: LiveProject
) -> None:
    with (
        visit(chromium, project, "submitter") as watching,
        visit(chromium, project, "operator") as deciding,
    ):
        run = submit(watching)
        waiting = watching.get_by_role("heading", name="Waiting for a person")
        waiting.wait_for(timeout=A_WHILE_MS)

        deciding.goto(f"/reviews/{Review.objects.get(run=run).pk}/")
        deciding.keyboard.press("e")
        deciding.locator("#decide-edit").get_by_label("Subject").fill("Q3, confirmed")
        changed = deciding.locator("#decide-edit .diff")
        expect(changed.locator("del")).to_have_text("Subject: Q3 2024 Revenue Summary")
        expect(changed.locator("ins")).to_have_text("Subject: Q3, confirmed")
        deciding.keyboard.press("Control+Enter")
        deciding.get_by_text("Edited and approved by you").wait_for()
        result = watching.get_by_role("heading", name="Result")
        result.wait_for(timeout=A_WHILE_MS)

    sent = [mail for mail in project.mails() if "Subject: Q3, confirmed" in mail]
    assert len(sent) == 1


def sheet(page: Page, kind: str) -> Locator:
    return page.locator(f"#decide-{kind}")


def test_each_key_does_what_the_legend_says(
    chromium: Browser, project: LiveProject
) -> None:
    first, second = park(), park()

    with visit(chromium, project, "operator") as page:
        page.goto("/reviews/")
        legend = page.locator("#keys")
        page.keyboard.press("?")
        expect(legend.get_by_text("Down, up")).to_be_visible()
        expect(legend.get_by_text("Undo the decision")).to_be_hidden()
        expect(legend.get_by_text("Answer", exact=True)).to_be_hidden()
        assert barriers(page) == []
        page.keyboard.press("?")
        expect(legend).to_be_hidden()

        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        page.keyboard.press("Enter")
        page.wait_for_url("**/reviews/*-*/")
        here = page.url
        page.locator("[data-go=next], [data-go=previous]").first.wait_for()
        step, back = (
            ("j", "k") if page.locator("[data-go=next]").count() else ("k", "j")
        )
        page.keyboard.press(step)
        page.wait_for_url(lambda url: url != here and "-" in url)
        page.keyboard.press(back)
        page.wait_for_url(here)

        page.keyboard.press("c")
        expect(page.get_by_text("You hold this")).to_be_visible()
        for key, kind in (
            ("a", "approve"),
            ("e", "edit"),
            ("r", "reject"),
            ("g", "guide"),
        ):
            page.keyboard.press(key)
            expect(sheet(page, kind)).to_be_visible()
            page.keyboard.press("Escape")
            expect(sheet(page, kind)).to_be_hidden()
            # Whoever opened it has the focus again.
            expect(page.locator(f"[popovertarget=decide-{kind}]").first).to_be_focused()

        page.keyboard.press("r")
        sheet(page, "reject").get_by_label("In your own words").press_sequentially(
            "Not this.", delay=60
        )
        page.keyboard.press("Control+Enter")
        page.get_by_text("Rejected by you").wait_for()
        page.keyboard.press("n")
        page.wait_for_url(lambda url: url != here)
        page.keyboard.press("Escape")
        page.wait_for_url("**/reviews/?item=*")
    assert {first.status, second.status} == {"open"}


def test_keys_rest_in_dialogs_with_modifiers_on_repeat_and_while_composing(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()

    with visit(chromium, project, "operator") as page:
        page.goto(f"/reviews/{review.pk}/")
        for keys in ("Alt+r", "Control+g", "Meta+e", "Shift+R"):
            page.keyboard.press(keys)
        for init in ("repeat: true", "isComposing: true"):
            page.evaluate(
                "document.body.dispatchEvent(new KeyboardEvent("
                f"'keydown', {{key: 'r', bubbles: true, {init}}}))"
            )
        expect(page.locator(".sheet:popover-open")).to_have_count(0)

        page.keyboard.press("g")
        page.get_by_role("button", name="Not yet").locator("visible=true").focus()
        page.keyboard.press("r")
        expect(sheet(page, "guide")).to_be_visible()
        expect(sheet(page, "reject")).to_be_hidden()
        page.keyboard.press("Escape")

        # Nothing is open: there is nothing that Ctrl+Enter may send.
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("button", name="Guide the agent").first).to_be_visible()
    review.refresh_from_db()
    assert review.status == "open"


def test_without_single_keys_forms_and_dialogs_keep_theirs(
    chromium: Browser, project: LiveProject
) -> None:
    review = park()
    operator = User.objects.get(username="operator")
    Profile.objects.create(person=operator, single_keys=False)

    with visit(chromium, project, "operator") as page:
        page.goto(f"/reviews/{review.pk}/")
        here = page.url
        for key in "jkcaergnxz/?":
            page.keyboard.press(key)
        page.keyboard.press("Escape")
        expect(page.locator(".sheet:popover-open")).to_have_count(0)
        expect(page).to_have_url(here)
        expect(page.get_by_role("button", name="Claim it")).to_be_visible()

        page.get_by_role("button", name="Guide the agent").first.click()
        page.keyboard.press("Escape")
        expect(sheet(page, "guide")).to_be_hidden()
        page.get_by_role("button", name="Guide the agent").first.click()
        page.get_by_label("Guidance").press_sequentially("Look again", delay=60)
        page.keyboard.press("Control+Enter")
        page.get_by_text("Guided by you").wait_for()
