"""The notices section of the profile: a route is added, tried, and taken away."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from reviews.models import Route
from tests.browser.visit import NARROW, WIDE, Theme, barriers, sideways, visit
from tests.support.project import LiveProject
from tests.support.services import Services

pytestmark = pytest.mark.browser

PROFILE = "/reviews/profile/"
WAYS: list[tuple[Theme, dict[str, int]]] = [("light", NARROW), ("dark", WIDE)]


def add_webhook(page: Page, address: str) -> None:
    page.goto(PROFILE)
    page.get_by_label("Channel").select_option("webhook")
    page.get_by_label("Address").fill(address)
    page.get_by_role("button", name="Add this route").click()


def test_a_route_is_added_tried_and_removed(
    chromium: Browser, desk: LiveProject, services: Services
) -> None:
    with visit(chromium, desk, "operator") as page:
        add_webhook(page, f"{services.url}/sesame")
        expect(page.get_by_text("http://127.0.0.1/…")).to_be_visible()
        assert "sesame" not in page.content()

        page.get_by_role("button", name="Send a test message").click()
        expect(page.get_by_text("The test message was delivered.")).to_be_visible()
        assert services.paths == ["/sesame"]

        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_text("The route is removed.")).to_be_visible()
        assert Route.objects.count() == 0


def test_it_works_without_script_and_a_wrong_address_is_told(
    chromium: Browser, desk: LiveProject
) -> None:
    with visit(chromium, desk, "submitter", script=False) as page:
        add_webhook(page, "http://example.com/hook")

        expect(page.get_by_text("Only https:// is possible")).to_be_visible()
        page.get_by_role("button", name="For 1 hour").click()
        expect(page.get_by_text("You are told nothing, high risk")).to_be_visible()


def test_the_section_has_no_barriers(chromium: Browser, desk: LiveProject) -> None:
    from django.contrib.auth.models import User

    person = User.objects.get(username="operator")
    for channel, address, least in (
        ("slack", "slack://xoxb-1/#reviews-of-the-whole-department", "high"),
        ("webhook", "https://hooks.example.com/agentops", "medium"),
    ):
        Route.objects.create(
            person=person, channel=channel, address=address, least_risk=least
        )

    for theme, size in WAYS:
        with visit(chromium, desk, "operator", theme=theme, size=size) as page:
            page.goto(PROFILE)
            assert barriers(page) == []
            assert sideways(page) == 0
