"""Two people at one item: who holds it, who takes it, and what each had typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page, expect

from agentops import clock
from reviews.models import Draft, Note, Review, Seen
from tests.browser.story import park
from tests.browser.visit import barriers, visit
from tests.support.project import LiveProject
from tests.support.wait import wait_until

pytestmark = pytest.mark.browser

SHORT_S = 6.0


@pytest.fixture
def review(project: LiveProject) -> Review:
    """Waits, and `ben` may decide on it as `operator` may."""
    ben = User.objects.create_user("ben", "ben@example.com")
    ben.groups.add(Group.objects.get(name="operators"))
    return park()


@pytest.fixture
def short_lease(project: LiveProject) -> Iterator[None]:
    """Claims last a few seconds, so that a test can outlive one."""
    project.kill_tree("web")
    project.env["AGENTOPS_CLAIM_LEASE_S"] = str(SHORT_S)
    project.start_web()
    yield
    project.kill_tree("web")
    del project.env["AGENTOPS_CLAIM_LEASE_S"]
    project.start_web()


def open_item(page: Page, review: Review) -> None:
    page.goto(f"/reviews/{review.pk}/")


def holder(review: Review) -> str:
    """Who holds it now, "" for nobody."""
    held = Review.objects.filter(pk=review.pk, holder_until__gt=clock.now())
    return held.values_list("holder__username", flat=True).first() or ""


def held_by(review: Review, name: str) -> None:
    wait_until(lambda: holder(review) == name, what=f"the item held by {name!r}")


def test_looking_holds_nothing_and_a_claim_is_seen_by_the_other(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with (
        visit(chromium, project, "operator") as ours,
        visit(chromium, project, "ben") as theirs,
    ):
        open_item(ours, review)
        open_item(theirs, review)
        assert holder(review) == ""
        assert Seen.objects.filter(review=review).count() == 2

        ours.keyboard.press("c")
        expect(ours.get_by_text("You hold this")).to_be_visible()
        expect(theirs.get_by_text("operator holds this")).to_be_visible()

        ours.get_by_role("button", name="Release").click()
        expect(theirs.get_by_role("button", name="Claim it")).to_be_visible()
    assert Review.objects.get(pk=review.pk).version == review.version


def test_the_first_edit_claims_and_warns_where_another_holds_it(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with (
        visit(chromium, project, "operator") as ours,
        visit(chromium, project, "ben") as theirs,
    ):
        open_item(ours, review)
        open_item(theirs, review)
        ours.keyboard.press("g")
        ours.get_by_label("Guidance").fill("Look again.")
        held_by(review, "operator")

        expect(theirs.get_by_text("operator holds this")).to_be_visible()
        theirs.keyboard.press("g")
        theirs.get_by_label("Guidance").fill("No, send it.")
        warning = theirs.locator("#decide-guide .held-notice")
        expect(warning).to_contain_text("operator is working on this")
        assert barriers(theirs) == []
        assert holder(review) == "operator"


def test_who_loses_the_item_is_told_and_keeps_what_was_typed(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with (
        visit(chromium, project, "operator") as ours,
        visit(chromium, project, "ben") as theirs,
    ):
        open_item(ours, review)
        open_item(theirs, review)
        ours.keyboard.press("e")
        subject = ours.locator("#decide-edit").get_by_label("Subject")
        subject.fill("Q3, confirmed")
        expect(theirs.get_by_text("operator holds this")).to_be_visible()

        theirs.keyboard.press("c")
        reason = theirs.locator("#take-over-reason")
        reason.press_sequentially("<b>Ana</b> is out", delay=30)
        theirs.keyboard.press("Enter")
        expect(theirs.get_by_text("You hold this")).to_be_visible()

        told = ours.locator("#decide-edit .held-notice")
        expect(told).to_contain_text("ben took this over from you: “<b>Ana</b> is out”")
        expect(subject).to_have_value("Q3, confirmed")
        assert barriers(ours) == []
        ours.keyboard.press("Control+Enter")
        expect(ours.get_by_text("ben is working on this")).to_be_visible()

        theirs.get_by_role("button", name="Release").click()
        expect(theirs.get_by_role("button", name="Claim it")).to_be_visible()
        open_item(ours, review)
        ours.keyboard.press("e")
        expect(subject).to_have_value("Q3, confirmed")
        expect(ours.locator("#decide-edit .diff ins")).to_have_text(
            "Subject: Q3, confirmed"
        )
        subject.press("End")
        subject.press_sequentially(" figures", delay=60)
        ours.keyboard.press("Control+Enter")
        ours.get_by_text("Edited and approved by you").wait_for()
    note = Note.objects.get(review=review)
    assert (note.kind, note.author.get_username()) == ("take_over", "ben")
    assert not Draft.objects.exists()


def test_a_draft_survives_a_closed_tab_and_is_thrown_away_by_its_button(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with visit(chromium, project, "operator") as page:
        open_item(page, review)
        page.keyboard.press("g")
        page.get_by_label("Guidance").fill("Half a sent")
        page.goto("/runs/")  # sooner than the pause after which drafts are kept
        wait_until(Draft.objects.exists, what="the draft being kept")
        open_item(page, review)
        page.keyboard.press("g")
        expect(page.get_by_label("Guidance")).to_have_value("Half a sent")
        expect(page.get_by_text("restored.")).to_be_visible()
        assert barriers(page) == []

        page.get_by_label("Guidance").fill("Half a sentence")
        expect(page.get_by_text("Draft kept.")).to_be_visible()
        page.get_by_role("button", name="Discard it").click()
        page.wait_for_load_state()
        page.keyboard.press("g")
        expect(page.get_by_label("Guidance")).to_have_value("")
    assert not Draft.objects.exists()


def test_drafts_come_back_without_script(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with visit(chromium, project, "operator", script=False) as page:
        open_item(page, review)
        page.get_by_role("button", name="Edit and approve").first.click()
        form = page.locator("#decide-edit")
        form.get_by_label("To", exact=True).fill("nobody")
        form.get_by_role("button", name="Edit and approve").click()
        expect(page.get_by_text("Nothing was decided yet")).to_be_visible()

        open_item(page, review)
        page.get_by_role("button", name="Edit and approve").first.click()
        expect(form.get_by_label("To", exact=True)).to_have_value("nobody")
        form.get_by_role("button", name="Discard it").click()
        page.get_by_role("button", name="Edit and approve").first.click()
        expect(form.get_by_label("To", exact=True)).to_have_value(
            "analytics@company.com"
        )


@pytest.mark.usefixtures("short_lease")
def test_a_page_that_is_looked_at_outlives_its_lease_and_one_that_is_left_ends_it(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with visit(chromium, project, "operator") as page:
        open_item(page, review)
        page.keyboard.press("c")
        held_by(review, "operator")
        first = Review.objects.get(pk=review.pk).holder_until
        assert first is not None

        def is_renewed_past_it() -> bool:
            return clock.now() > first and holder(review) == "operator"

        wait_until(is_renewed_past_it, timeout_s=20, what="the lease outlived")
        page.goto("/runs/")
        wait_until(lambda: holder(review) == "", timeout_s=3, what="the item free")


def test_leaving_one_of_two_pages_keeps_the_item(
    chromium: Browser, project: LiveProject, review: Review
) -> None:
    with visit(chromium, project, "operator") as first:
        open_item(first, review)
        first.keyboard.press("c")
        held_by(review, "operator")
        second = first.context.new_page()
        open_item(second, review)
        expect(second.get_by_text("You hold this")).to_be_visible()
        seen = Review.objects.get(pk=review.pk).holder_until

        second.close(run_before_unload=True)
        # The page that stays takes up what the other has left.
        wait_until(
            lambda: (
                Review.objects.get(pk=review.pk).holder_until != seen
                and holder(review) == "operator"
            ),
            timeout_s=15,
            what="the lease taken up",
        )
        expect(first.get_by_text("You hold this")).to_be_visible()
