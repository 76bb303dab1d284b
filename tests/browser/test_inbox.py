"""The inbox in real browsers: two people at once, a feed that breaks, the way back."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser import scene
from tests.browser.visit import NARROW, barriers, sideways, visit
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

SOON_MS = 15_000
PAGE_OVERFLOW = "document.documentElement.scrollHeight - innerHeight"
OUTAGE = ("net::ERR", "htmx:")
SIGNED_OUT = ("401",)


def row(page: Page, title: str) -> Locator:
    return page.locator("[data-row]").filter(has_text=title)


def titles(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(".item-title").all_inner_texts()]


def give_a_reason(page: Page) -> None:
    """In the open form for rejecting, and send it."""
    page.locator("#decide-reject").get_by_label("In your own words").fill("Not now.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("Rejected by you").first.wait_for()


def top_of(found: Locator) -> float:
    box = found.bounding_box()
    assert box is not None
    return box["y"]


def test_what_one_decides_turns_grey_for_the_other_and_stays(
    chromium: Browser, desk: LiveProject
) -> None:
    first = scene.letter("ana@example.com", minutes_left=60)
    scene.letter("ben@example.com", minutes_left=120)

    with (
        visit(chromium, desk, "operator") as watching,
        visit(chromium, desk, "admin") as deciding,
    ):
        watching.goto("/reviews/")
        expect(watching).to_have_title("(2) Needs a decision · agentops")
        before = top_of(row(watching, "ben@example.com"))
        deciding.goto(f"/reviews/{first.pk}/")
        deciding.keyboard.press("r")
        give_a_reason(deciding)

        grey = row(watching, "ana@example.com")
        expect(grey).to_contain_text("Rejected by admin", timeout=SOON_MS)
        expect(grey).to_contain_class("item-done")
        expect(watching).to_have_title("(1) Needs a decision · agentops")
        expect(watching.locator("#count-open")).to_have_text("1")
        expect(watching.locator("#said")).to_contain_text("Rejected by admin")
        expect(watching.locator("#detail")).to_contain_text(
            "cannot be sent any more", timeout=SOON_MS
        )
        assert top_of(row(watching, "ben@example.com")) == before
        assert barriers(watching) == []


def test_only_the_regions_scroll_and_the_heads_stay_in_sight(
    chromium: Browser, desk: LiveProject
) -> None:
    names = [f"person{number}@example.com" for number in range(20)]
    last = [scene.letter(name, minutes_left=100) for name in names][-1]

    with visit(chromium, desk, "operator") as page:
        page.goto(f"/reviews/?item={last.pk}")
        expect(row(page, last.title).locator("a")).to_be_focused()
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        expect(page.locator("#detail .headline")).to_be_in_viewport()
        assert page.evaluate(PAGE_OVERFLOW) == 0


def test_new_ones_are_counted_and_put_in_only_when_asked(
    chromium: Browser, desk: LiveProject
) -> None:
    scene.letter("ana@example.com", minutes_left=120)

    with visit(chromium, desk, "operator") as page:
        page.goto("/reviews/")
        pointed = row(page, "ana@example.com")
        pointed.hover()
        before = top_of(pointed)
        for name in ("ben", "cem"):
            scene.letter(f"{name}@example.com", minutes_left=10)
        news = page.get_by_role("link", name="2 new, show them")
        news.wait_for(timeout=SOON_MS)
        expect(page.locator("#said")).to_have_text("2 new, show them")
        assert top_of(pointed) == before
        assert len(titles(page)) == 1

        news.click()
        expect(page.locator("[data-row]")).to_have_count(3)
        expect(page.locator("[data-row] a").first).to_be_focused()
        expect(page.locator("#detail .headline")).to_have_text(
            "Send e-mail to ana@example.com"
        )
        expect(news).to_be_hidden()


def test_search_and_filters_follow_in_the_address_and_back_undoes_them(
    chromium: Browser, desk: LiveProject
) -> None:
    scene.full()

    with visit(chromium, desk, "operator") as page:
        page.goto("/reviews/")
        everything = titles(page)
        page.keyboard.press("/")
        page.keyboard.type("aldermoor")
        expect(page.locator("[data-row]")).to_have_count(1)
        page.wait_for_url("**/reviews/?*q=aldermoor*")
        expect(page.locator("#said")).to_have_text("1 found")

        # Half a word more is typed; the list is refreshed meanwhile.
        box = page.locator("#q")
        with page.expect_response("**/reviews/rows/"):
            box.evaluate("box => { box.value = 'aldermoor con' }")
        expect(box).to_have_value("aldermoor con")
        expect(box).to_be_focused()

        page.go_back()
        expect(page.locator("[data-row]")).to_have_count(len(everything))
        expect(box).to_have_value("")
        assert "q=" not in page.url

        page.get_by_label("Filter", exact=True).click()
        page.get_by_label("Reason", exact=True).select_option("Budget")
        expect(page.locator("[data-row]")).to_have_count(1)
        page.wait_for_url("**/reviews/?*reason=budget*")
        shared = page.url
        page.get_by_label("Filter", exact=True).click()
        page.locator(".narrowings a").click()
        expect(page.locator("[data-row]")).to_have_count(len(everything))
        page.go_back()
        expect(page.locator("[data-row]")).to_have_count(1)

    with visit(chromium, desk, "admin") as other:
        other.goto(shared)
        expect(other.locator("[data-row]")).to_have_count(1)
        expect(other.get_by_label("Reason", exact=True)).to_have_value("budget")


def test_a_feed_that_is_stale_says_so_and_never_that_nothing_is_to_do(
    chromium: Browser, desk: LiveProject
) -> None:
    with visit(chromium, desk, "operator", expects=OUTAGE) as page:
        page.goto("/reviews/")
        expect(page.get_by_text("Nothing waits for a decision")).to_be_visible()

        page.route("**/reviews/rows/", lambda route: route.abort())
        expect(page.locator("[data-live]")).to_contain_text(
            "reconnecting", timeout=SOON_MS
        )
        expect(page.locator("[data-live]")).to_contain_text("Updated ")
        expect(page.get_by_text("Nothing waits for a decision")).to_be_hidden()
        expect(page.get_by_role("heading", name="Not up to date")).to_be_visible()
        expect(page.locator("#said")).to_contain_text("reconnecting")

        scene.letter("ana@example.com")
        page.unroute("**/reviews/rows/")
        expect(page.locator("[data-live]")).to_contain_text("Live", timeout=SOON_MS)
        expect(row(page, "ana@example.com")).to_be_visible()


def test_a_server_that_hangs_is_a_stale_feed_too(
    chromium: Browser, desk: LiveProject
) -> None:
    scene.letter("ana@example.com")

    with visit(chromium, desk, "operator", expects=OUTAGE) as page:
        page.goto("/reviews/")
        desk.kill_tree("web")
        live = page.locator("[data-live]")
        expect(live).to_contain_text("reconnecting", timeout=2 * SOON_MS)
        desk.start_web()
        expect(live).to_contain_text("Live", timeout=2 * SOON_MS)


def test_who_is_signed_out_meanwhile_is_told_and_keeps_the_page(
    chromium: Browser, desk: LiveProject
) -> None:
    scene.letter("ana@example.com")

    with visit(chromium, desk, "operator", expects=SIGNED_OUT) as page:
        page.goto("/reviews/?view=unclaimed")
        Session.objects.all().delete()
        notice = page.get_by_role("alert")
        expect(notice).to_contain_text("You are signed out", timeout=SOON_MS)
        expect(row(page, "ana@example.com")).to_be_visible()
        assert barriers(page) == []

        link = notice.get_by_role("link", name="sign in again")
        where = str(link.get_attribute("href"))
        assert where.endswith("?next=%2Freviews%2F%3Fview%3Dunclaimed")


def test_a_long_list_goes_on_when_asked_and_stays_whole(
    chromium: Browser, desk: LiveProject
) -> None:
    for number in range(28):
        scene.letter(f"person{number}@example.com", minutes_left=100 + number)

    with visit(chromium, desk, "operator") as page:
        page.goto("/reviews/")
        expect(page.locator("[data-row]")).to_have_count(25)
        page.get_by_role("link", name="Show more").click()
        expect(page.locator("[data-row]")).to_have_count(28)
        expect(row(page, "person25@").locator("a")).to_be_focused()
        scene.letter("late@example.com", minutes_left=5)
        page.get_by_role("link", name="1 new, show it").click(timeout=SOON_MS)
        expect(page.locator("[data-row]")).to_have_count(29)


def test_the_reader_s_place_outlives_a_refresh(
    chromium: Browser, desk: LiveProject
) -> None:
    made = scene.full()

    with visit(chromium, desk, "operator") as page:
        page.goto("/reviews/")
        page.locator(".rank").nth(2).click()
        why = page.locator(".tip:popover-open")
        expect(why).to_contain_text("The call cannot be undone")
        scene.letter("new@example.com", minutes_left=1)
        page.get_by_role("link", name="1 new, show it").wait_for(timeout=SOON_MS)
        expect(why).to_be_visible()
        assert barriers(page) == []
        page.keyboard.press("Escape")

        page.keyboard.press("j")
        chosen = page.locator(".item[aria-current] a")
        expect(chosen).to_be_focused()
        address = chosen.get_attribute("href")
        made[-1].refresh_from_db()
        scene.hold(made[-1], "admin")
        expect(row(page, made[-1].title)).to_contain_text("admin", timeout=SOON_MS)
        expect(chosen).to_be_focused()
        assert chosen.get_attribute("href") == address


@pytest.mark.parametrize("script", [True, False])
def test_a_narrow_window_has_two_pages_and_a_way_back(
    chromium: Browser, desk: LiveProject, script: bool
) -> None:
    scene.full()

    with visit(chromium, desk, "operator", size=NARROW, script=script) as page:
        page.goto("/reviews/?view=unclaimed")
        assert sideways(page) == 0
        assert not script or barriers(page) == []
        expect(page.locator("#detail")).to_be_hidden()
        page.get_by_role("link", name="Which Aldermoor contract").click()
        page.wait_for_url("**/reviews/*-*/?view=unclaimed")
        page.locator("[data-go=back]").click()
        page.wait_for_url("**/reviews/?item=*&view=unclaimed")
        expect(row(page, "Which Aldermoor")).to_be_visible()
        if script:
            expect(row(page, "Which Aldermoor").locator("a")).to_be_focused()


def test_n_goes_to_the_next_item_of_the_list_one_came_from(
    chromium: Browser, desk: LiveProject
) -> None:
    scene.full()
    later = scene.letter("cem@example.com", minutes_left=400)

    with visit(chromium, desk, "operator") as page:
        page.goto("/reviews/?view=unsure")
        page.keyboard.press("/")
        page.keyboard.type("example.com")
        expect(page.locator("[data-row]")).to_have_count(1)
        page.wait_for_url("**/reviews/?*q=example.com*")
        page.locator("#q").blur()  # Esc would clear the search first
        # The item beside the list was there before the search.
        page.keyboard.press("Enter")
        page.wait_for_url("**/reviews/*-*/?*")
        assert page.url.endswith("/?view=unsure&q=example.com")
        page.keyboard.press("n")
        expect(page.get_by_role("heading", level=1)).to_have_text(later.title)
        page.keyboard.press("Escape")
        page.wait_for_url("**/reviews/?item=*&view=unsure&q=example.com")
        expect(page.locator("[data-row]")).to_have_count(1)


def test_after_a_decision_the_list_is_left_where_one_was(
    chromium: Browser, desk: LiveProject
) -> None:
    scene.letter("ana@example.com", minutes_left=60)
    scene.letter("ben@example.com", minutes_left=70)
    scene.letter("cem@example.com", minutes_left=80)

    with visit(chromium, desk, "operator", size=NARROW) as page:
        page.goto("/reviews/")
        page.get_by_role("link", name="ben@example.com").click()
        page.get_by_role("button", name="Reject").first.click()
        give_a_reason(page)
        page.locator("[data-go=back]").click()

        expect(page.locator("[data-row]")).to_have_count(2)
        expect(row(page, "cem@example.com").locator("a")).to_be_focused()
