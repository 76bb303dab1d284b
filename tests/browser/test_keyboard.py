"""Deciding by keyboard, while another page watches the run."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from reviews.models import Review
from runs import metrics
from runs.models import Run
from tests.browser.story import NOTE
from tests.browser.visit import visit
from tests.support.project import LiveProject

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("processes")]

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
