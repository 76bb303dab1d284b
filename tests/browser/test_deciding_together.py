"""Two people at one item, hasty fingers, and second thoughts."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page, expect

from agentops import clock
from reviews.models import Decision, Review
from runs.models import Effect, Run, Tool
from runs.states import RunState
from tests.browser import story
from tests.browser.visit import barriers, visit
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

A_WHILE_MS = 75_000  # an idle worker notices by the sweep, once a minute
UNDO = "Undo"


@pytest.fixture
def parked(project: LiveProject) -> Review:
    """An e-mail that waits; what is approved can be taken back for a minute."""
    colleague = User.objects.create_user("colleague", "colleague@example.com")
    colleague.groups.add(Group.objects.get(name="operators"))
    Tool.objects.update_or_create(name="send_email", defaults={"undo_s": 60})
    run = story._rests(story._start("quarterly-metrics"), RunState.AWAITING_HUMAN)
    return Review.objects.get(run=run)


def window(seconds: float) -> None:
    Tool.objects.filter(name="send_email").update(undo_s=seconds)


def open_item(page: Page, review: Review) -> None:
    page.goto(f"/reviews/{review.pk}/")


def approve_by_keyboard(page: Page) -> None:
    page.keyboard.press("a")
    expect(page.get_by_label("Note to the agent").first).to_be_focused()
    page.wait_for_timeout(350)
    page.keyboard.press("Control+Enter")


def test_a_decision_is_taken_back_with_one_key(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        approve_by_keyboard(page)
        page.get_by_text("Approved by you").wait_for()
        left = page.locator("[data-undo-left]")
        expect(left).to_contain_text("s left")
        first = left.inner_text()
        expect(left).not_to_have_text(first)
        assert barriers(page) == []
        # The way on is at hand: Enter follows it, and so does n.
        expect(page.locator("[data-go=next]")).to_be_focused()
        page.keyboard.press("z")
        page.get_by_text("Taken back. Nothing was carried out").wait_for()
        expect(
            page.get_by_role("button", name="Approve and send").first
        ).to_be_visible()
        approve_by_keyboard(page)
        page.get_by_text("Approved by you").wait_for()

    assert Decision.objects.filter(undone_at=None).count() == 1
    assert Decision.objects.count() == 2


def test_the_button_goes_when_it_is_too_late(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:
    window(2)

    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        approve_by_keyboard(page)
        page.get_by_role("button", name=UNDO).wait_for()
        page.get_by_text("Too late to undo").wait_for(timeout=A_WHILE_MS)
        expect(page.get_by_role("button", name=UNDO)).to_have_count(0)
        expect(page.locator("#after")).to_contain_text("Completed", timeout=A_WHILE_MS)

    assert Effect.objects.filter(run=parked.run, status="done").count() == 1


def test_a_page_that_stays_open_follows_all_second_thoughts(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with (
        visit(chromium, project, "operator") as page,
        visit(chromium, project, "admin") as watching,
    ):
        open_item(watching, parked)
        changed = watching.locator("#changed")
        open_item(page, parked)
        approve_by_keyboard(page)
        expect(changed).to_contain_text("Approved by operator", timeout=A_WHILE_MS)
        page.keyboard.press("z")
        page.get_by_text("Taken back. Nothing was carried out").wait_for()
        expect(changed).to_contain_text("This has changed", timeout=A_WHILE_MS)
        window(1)
        approve_by_keyboard(page)

        expect(changed).to_contain_text("Approved by operator", timeout=A_WHILE_MS)
        expect(watching.locator("#happened")).to_contain_text(
            "Sent to", timeout=A_WHILE_MS
        )


def test_it_is_taken_back_without_script(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with visit(chromium, project, "operator", script=False) as page:
        open_item(page, parked)
        page.get_by_role("button", name="Approve and send").first.click()
        page.locator("#decide-approve button.btn-primary").click()
        page.get_by_role("button", name=UNDO).click()
        page.get_by_text("Taken back. Nothing was carried out").wait_for()

    assert Run.objects.get(pk=parked.run_id).state == "awaiting_human"


def test_one_key_sends_nothing_however_long_it_is_held(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        page.keyboard.press("Control+Enter")
        for _ in range(5):
            page.keyboard.down("a")  # again without letting go: it repeats
        expect(page.get_by_label("Note to the agent").first).to_have_value("")
        for _ in range(5):
            page.keyboard.down("Enter")
        page.keyboard.up("Enter")
        page.keyboard.up("a")
        expect(page.locator("#decide-approve")).to_be_visible()

    assert not Decision.objects.exists()


def test_what_follows_the_opening_at_once_sends_nothing(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        page.evaluate(
            """() => {
                const press = (key, more) => document.activeElement.dispatchEvent(
                    new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
                press("a", {});
                press("Enter", { ctrlKey: true });
            }"""
        )
        page.wait_for_timeout(500)
        expect(page.locator("#decide-approve")).to_be_visible()

    assert not Decision.objects.exists()


def test_of_two_who_press_together_one_decides_and_the_other_is_told(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with (
        visit(chromium, project, "operator") as one,
        visit(chromium, project, "colleague") as other,
    ):
        for page in (one, other):
            open_item(page, parked)
            page.keyboard.press("a")
            page.wait_for_timeout(350)
        for page in (one, other):  # neither waits for the other's answer
            page.evaluate(
                "document.querySelector('#decide-approve form').requestSubmit()"
            )
        told = "has decided already"
        for page in (one, other):
            page.wait_for_function(
                f"document.body.innerText.includes('by you') ||"
                f" document.body.innerText.includes('{told}')"
            )
        bodies = [page.inner_text("body") for page in (one, other)]

    assert sum(told in body for body in bodies) == 1
    assert Decision.objects.count() == 1


def test_a_double_click_is_one_decision(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        page.get_by_role("button", name="Approve and send").first.click()
        page.wait_for_timeout(350)
        page.locator("#decide-approve button.btn-primary").dblclick()
        page.get_by_text("Approved by you").wait_for()

    assert Decision.objects.count() == 1


def test_an_expired_item_is_asked_again_and_then_gone_on_from(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:
    """The worker that runs closes it as soon as its time is over."""
    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        expect(page.locator("#changed")).to_be_attached()
        Review.objects.update(expires_at=clock.now())
        page.get_by_text("Expired, nobody answered").first.wait_for(timeout=A_WHILE_MS)
        open_item(page, parked)
        assert barriers(page) == []
        page.get_by_role("button", name="Ask again").click()
        page.get_by_text("Asked again. It waits").wait_for()
        Review.objects.update(expires_at=clock.now())
        page.get_by_text("Expired, nobody answered").first.wait_for(timeout=A_WHILE_MS)
        open_item(page, parked)
        page.get_by_role("button", name="Go on without an answer").first.click()
        page.wait_for_timeout(350)
        page.locator("#decide-go_on button.btn-primary").click()
        page.get_by_text("Went on without an answer by you").wait_for()

    assert Decision.objects.get().kind == "go_on"
    assert not Effect.objects.filter(tool="send_email").exists()


def test_a_refused_form_is_corrected_in_sight_of_the_item(
    chromium: Browser, project: LiveProject, parked: Review
) -> None:

    with visit(chromium, project, "operator") as page:
        open_item(page, parked)
        page.get_by_role("button", name="Reject").first.click()
        page.wait_for_timeout(350)
        page.locator("#decide-reject button.btn-primary").click()
        form = page.locator("#correcting")
        form.wait_for()
        expect(page.get_by_role("heading", name="What will happen")).to_be_visible()
        assert barriers(page) == []
        form.locator("textarea").first.fill("Not this quarter.")
        form.get_by_role("button", name="Reject").click()
        page.get_by_text("Rejected by you").wait_for()

    assert Decision.objects.get().note
