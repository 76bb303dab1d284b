"""Signed out, or signed in anew in another tab, with forms open: nothing typed is lost."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Page, expect

from tests.browser import scene
from tests.browser.story import PASSWORD
from tests.browser.visit import NARROW, sideways, visit
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

SOON_MS = 30_000
TYPED = "Wait for the new figures."


def in_a_new_tab(page: Page) -> None:
    """Sign in once more, beside the page that stays open."""
    page.context.clear_cookies()
    tab = page.context.new_page()
    tab.goto("/accounts/login/")
    tab.get_by_label("Username").fill("operator")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.wait_for_url(lambda url: "login" not in url)
    tab.close()


def test_an_open_page_goes_on_once_one_has_signed_in_again(
    chromium: Browser, desk: LiveProject
) -> None:
    review = scene.letter("ana@example.com")

    with visit(chromium, desk, "operator", expects=("401",)) as page:
        page.goto(f"/reviews/{review.pk}/")
        page.get_by_label("Add a note").fill(TYPED)
        Session.objects.all().delete()
        page.get_by_role("button", name="Add note").click()
        notice = page.get_by_text("You are signed out")
        expect(notice).to_be_visible(timeout=SOON_MS)
        assert not review.notes.exists()

        in_a_new_tab(page)
        expect(notice).to_be_hidden(timeout=SOON_MS)
        expect(page.get_by_label("Add a note")).to_have_value(TYPED)
        page.get_by_role("button", name="Add note").click()
        expect(page.locator("#notes-list")).to_contain_text(TYPED, timeout=SOON_MS)

    assert review.notes.get().text == TYPED


def test_a_form_without_script_is_kept_and_sent_again(
    chromium: Browser, desk: LiveProject
) -> None:
    review = scene.letter("ana@example.com")

    with visit(
        chromium, desk, "operator", script=False, size=NARROW, expects=("401",)
    ) as page:
        page.goto(f"/reviews/{review.pk}/")
        page.get_by_label("Add a note").fill(TYPED)
        page.context.clear_cookies(name="agentops_session")
        page.get_by_role("button", name="Add note").click()
        expect(page.get_by_role("heading", name="You are signed out")).to_be_visible()
        expect(page.get_by_label("Text")).to_have_value(TYPED)
        assert sideways(page) == 0

        in_a_new_tab(page)
        page.get_by_role("button", name="Send it again").click()
        expect(page.get_by_role("heading", name="Send this again")).to_be_visible()
        page.get_by_role("button", name="Send it again").click()
        expect(page.locator("#notes-list")).to_contain_text(TYPED, timeout=SOON_MS)

    assert review.notes.get().text == TYPED
