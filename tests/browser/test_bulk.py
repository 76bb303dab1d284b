"""Deciding on many: selecting, the look before, the receipts, and two people at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, Page, expect

from reviews import services
from reviews.models import Decision, Review
from runs.models import Agent
from runs.tools import registry
from tests.browser.visit import NARROW, WIDE, barriers, sideways, visit
from tests.support import factory, lookalikes
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

FETCH = "http_request"


@pytest.fixture
def desk(desk: LiveProject) -> LiveProject:
    """Two people who decide; no worker, so that what waits stays as it is."""
    for name in ("ana", "ben"):
        person = User.objects.create_user(name, f"{name}@example.com")
        person.groups.add(Group.objects.get(name="operators"))
    return desk


def make_agent() -> Agent:
    grants = {name: {"policy": "ask_below"} for name in (FETCH, "send_email")}
    return factory.make_agent(name="Price watch", grants=grants)


def fetches(agent: Agent, *pages: str) -> list[Review]:
    """Calls that only read; each may be approved together with others."""
    spec = registry.get(FETCH)
    return [
        lookalikes.parked(spec, {"method": "GET", "url": url, "headers": {}}, agent)
        for url in pages
    ]


def letter(agent: Agent) -> Review:
    spec = registry.get("send_email")
    arguments = {"to": ["ana@example.com"], "subject": "Prices", "body": "They rose."}
    return lookalikes.parked(spec, arguments, agent)


def prices(agent: Agent, number: int = 4) -> list[Review]:
    shop = [f"https://shop.example.com/prices/{n}" for n in range(number)]
    return fetches(agent, *shop, "https://elsewhere.example.net/prices/9")


def box(page: Page, review: Review) -> Any:
    return page.locator(f"#item-{review.pk} [data-select]")


def kinds() -> list[str]:
    return sorted(Decision.objects.values_list("kind", flat=True))


def test_selecting_with_x_and_the_mouse_leads_to_one_look_and_receipts(
    chromium: Browser, desk: LiveProject
) -> None:
    agent = make_agent()
    first, second, third, *_ = prices(agent)
    final = letter(agent)

    with visit(chromium, desk, "ana") as page:
        page.goto("/reviews/")
        bar = page.locator("[data-pick]")
        expect(bar).to_be_hidden()
        page.keyboard.press("x")
        expect(bar).to_contain_text("1 selected")
        page.keyboard.press("x")
        expect(bar).to_be_hidden()
        for review in (first, second, third, final):
            box(page, review).check()
        expect(bar).to_contain_text("4 selected")
        with page.expect_response(lambda answer: "/reviews/rows/" in answer.url):
            pass
        expect(bar).to_contain_text("4 selected")
        expect(box(page, second)).to_be_checked()

        bar.get_by_role("button", name="Decide together").click()
        left = page.get_by_role("region", name="Left out")
        expect(left).to_contain_text("Its call cannot be undone")
        button = page.locator("[data-final]")
        expect(button).to_contain_text("Approve 3 items")
        page.get_by_label(f"Include: {third.title}").uncheck()
        expect(button).to_contain_text("Approve 2 items")
        page.get_by_label("Note to the agent").fill("As agreed.")
        page.keyboard.press("Control+Enter")

        expect(page.get_by_role("heading", level=1)).to_have_text("2 of 2 decided")

    assert kinds() == ["approve", "approve"]
    assert {one.note for one in Decision.objects.all()} == {"As agreed."}
    assert Review.objects.get(pk=final.pk).status == "open"


def test_look_alikes_stand_above_the_list_with_who_stands_out_apart(
    chromium: Browser, desk: LiveProject
) -> None:
    prices(make_agent())

    with visit(chromium, desk, "ana") as page:
        page.goto("/reviews/")
        line = page.get_by_role("list", name="Look-alikes")
        expect(line).to_contain_text("4 alike, 1 differs in url")
        line.get_by_role("link").click()
        odd = page.get_by_label("Include: ").last
        expect(page.get_by_text("1 stands out and is not ticked")).to_be_visible()
        expect(odd).not_to_be_checked()
        page.locator("[data-final]").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("4 of 4 decided")

    assert kinds() == ["approve"] * 4


def test_what_another_person_decides_in_between_stays_selected_and_is_told(
    chromium: Browser, desk: LiveProject
) -> None:
    reviews = fetches(make_agent(), *[f"https://example.com/{n}" for n in range(4)])

    with (
        visit(chromium, desk, "ana") as ana,
        visit(chromium, desk, "ben") as ben,
    ):
        ana.goto(f"/reviews/alike/{reviews[0].shape}/")
        ben.goto(f"/reviews/{reviews[1].pk}/")
        ben.keyboard.press("r")
        ben.locator("#decide-reject textarea").focus()
        ben.keyboard.type("Not this one.", delay=40)
        ben.keyboard.press("Control+Enter")
        ben.get_by_text("Rejected by you").wait_for()

        ana.locator("[data-final]").click()
        expect(ana.get_by_role("heading", level=1)).to_have_text("3 of 4 decided")
        failed = ana.get_by_role("region", name="Not decided")
        expect(failed).to_contain_text("ben has decided already: rejected")
        expect(failed.get_by_role("checkbox")).to_be_checked()
        assert barriers(ana) == []
        failed.get_by_role("button", name="Look at them again").click()
        expect(ana.get_by_text("Rejected meanwhile.")).to_be_visible()

    assert kinds() == ["approve", "approve", "approve", "reject"]


def test_after_an_outage_all_are_retried_from_one_of_them(
    chromium: Browser, desk: LiveProject
) -> None:
    agent = make_agent()
    reviews = [lookalikes.stopped(number, agent) for number in range(14)]

    with visit(chromium, desk, "ana") as page:
        page.goto(f"/reviews/{reviews[5].pk}/")
        page.get_by_role("link", name="Retry all of them").click()
        expect(page.locator("[data-final]")).to_contain_text("Retry 14 items")
        assert barriers(page) == []
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("14 of 14 decided")

    assert kinds() == ["retry"] * 14
    starts = {d.effective_at - d.decided_at for d in Decision.objects.all()}
    assert len(starts) == 2


def test_all_of_it_works_without_script(chromium: Browser, desk: LiveProject) -> None:
    reviews = prices(make_agent(), 3)

    with visit(chromium, desk, "ana", script=False) as page:
        page.goto("/reviews/")
        for review in reviews[:2]:
            box(page, review).check()
        page.get_by_role("button", name="Decide together").click()
        page.get_by_role("button", name="Reject").click()
        page.locator("[data-final]").click()
        expect(page.locator(".error").first).to_be_visible()
        page.get_by_label("In your own words").fill("Too many requests.")
        page.locator("[data-final]").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("2 of 2 decided")

    assert kinds() == ["reject", "reject"]


def test_the_pages_have_no_barriers_and_fit_a_phone(
    chromium: Browser, desk: LiveProject
) -> None:
    agent = make_agent()
    reviews = prices(agent)
    final = letter(agent)
    services.decide(
        final.pk,
        by=User.objects.get(username="ben"),
        kind="reject",
        item_version=1,
        payload={"text": "No."},
    )

    found = {}
    for theme, size in (("light", NARROW), ("dark", WIDE), ("light", WIDE)):
        with visit(chromium, desk, "ana", size=size, theme=theme) as page:  # type: ignore[arg-type]
            for address in (
                "/reviews/",
                f"/reviews/alike/{reviews[0].shape}/",
                f"/reviews/together/?pick={final.pk}&pick={reviews[0].pk}&kind=abort",
                "/reviews/together/",
            ):
                page.goto(address)
                wrong = barriers(page)
                if pixels := sideways(page):
                    wrong.append(f"{pixels} pixels too wide")
                if wrong:
                    found[address, theme, size["width"]] = wrong

    assert found == {}
