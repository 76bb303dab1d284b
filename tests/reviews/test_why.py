"""Why a run is parked is told with its figures, and what would happen, whole."""

from __future__ import annotations

import time
from typing import Any

import pytest

from reviews import why
from reviews.models import Review
from reviews.models.review import ReviewKind
from runs.states import ParkReason, StepKind
from runs.tools import registry
from runs.tools.base import Effect, Preview, tool
from tests.support import factory

pytestmark = pytest.mark.django_db

CHECK = {
    "confidence": "0.62",
    "threshold": "0.8",
    "rules": ["a month grows more than 30 %"],
    "rationale": "It may be right.",
    "side_effects": ["Mail goes out"],
}


def told(reason: ParkReason = ParkReason.LOW_CONFIDENCE, **fields: Any) -> why.Why:
    review = factory.park(reason=reason, **fields)
    return why.why(review, list(review.run.steps.all()))


def points(shown: why.Why) -> dict[str, str]:
    return {point.name: point.text for point in shown.points}


def test_a_check_is_a_gauge_and_says_what_would_have_passed():
    shown = told(figures=CHECK)

    assert shown.gauge is not None
    assert (shown.gauge.stated_words, shown.gauge.needed_words) == ("62 %", "80 %")
    assert shown.in_words == (
        "The check is 62 % sure, the grant of post_letter needs 80 %."
    )
    assert points(shown)["Rule"] == "“a month grows more than 30 %”: applies"
    assert points(shown)["It says"] == "“It may be right.”"
    assert points(shown)["Side effects"] == "Mail goes out"
    assert [point.step for point in shown.points if point.step] == [2]


def test_a_budget_tells_its_figures_and_is_a_bar():
    figures = {
        "budget": "money",
        "used": "$0.49",
        "limit": "$0.50",
        "needed": "$0.02",
        "forecast": "$0.10",
    }

    shown = told(ParkReason.BUDGET, has_call=False, figures=figures)

    assert points(shown) == {
        "Used": "$0.49 of $0.50",
        "Reserved": "at most $0.02 for the next call",
        "To the end": "about $0.10 more",
    }
    assert shown.burn is not None
    assert shown.passed == "A limit of $0.51 or more."


def test_the_last_error_is_told_with_its_class_in_words():
    error = {"class": "transient", "text": "503: try later"}

    shown = told(ParkReason.RETRIES, error=error, figures={"attempts": 4})

    assert points(shown)["Last error"] == "503: try later (failed for now)"
    assert points(shown)["Tries"] == "4 of 4"


def test_untrusted_content_points_at_the_step_that_read_it():
    run = factory.make_run()
    read = {"result": "a page", "text": "a page", "untrusted": True}
    factory.add_step(run, StepKind.TOOL, name="http_request", response=read)

    review = factory.park(run, ParkReason.UNTRUSTED_CONTENT, figures={})
    shown = why.why(review, list(run.steps.all()))

    assert [(p.name, p.text, p.step) for p in shown.points] == [
        ("Read by", "HTTP request", 1)
    ]


def test_what_is_judged_afterwards_says_why_it_passed():
    review = factory.park(figures={"confidence": "0.82"})
    review.kind = ReviewKind.AFTERWARDS.value

    shown = why.why(review)

    assert shown.did_pass
    assert "What is below 85 % is looked at afterwards." in shown.passed


def test_what_changed_is_said_in_words():
    figures = {"changed": ["policy", "settings"]}

    shown = told(ParkReason.CHANGED, figures=figures)

    assert points(shown)["Changed"] == (
        "the policy of the tool, the settings of the tool"
    )


def test_arguments_are_typed_and_whole():
    review = factory.park()

    act = why.act(review)

    assert act is not None
    shown = {one.label: (one.kind, one.value) for one in act.fields}
    assert shown["To"] == ("list", "analytics@example.com")
    assert shown["Subject"] == ("text", "Q3 2024 Revenue Summary")
    assert shown["Body"][1] == factory.MAIL["body"]
    assert (act.reversibility, act.is_irreversible) == ("Cannot be undone", True)


def parked_on(spec: Any) -> Review:
    run = factory.make_run()
    call = factory.make_call(run, {"name": "x"}, tool=spec.name)
    return factory.park(run, ParkReason.ALWAYS_ASK, call=call)


def test_a_tool_tells_its_call_in_its_own_words():
    def preview(arguments: Any, context: Any) -> Preview:
        return Preview("Greet x", (("Words", "Hello x", "text"),), "It is loud.")

    @tool(effect=Effect.IRREVERSIBLE, preview=preview)
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    with registry.added(greet):
        act = why.act(parked_on(greet))

    assert act is not None
    assert (act.headline, act.warning) == ("Greet x", "It is loud.")
    assert [one.value for one in act.fields] == ["Hello x"]
    assert [one.value for one in act.arguments] == ["x"]


def fails(arguments: Any, context: Any) -> Preview:
    raise RuntimeError("gone")


def ends_the_program(arguments: Any, context: Any) -> Preview:
    raise SystemExit


def says_nothing(arguments: Any, context: Any) -> Any:
    return None


def has_odd_rows(arguments: Any, context: Any) -> Any:
    return Preview("Greet x", fields=("ab",))  # type: ignore[arg-type]


def hangs(arguments: Any, context: Any) -> Any:
    time.sleep(5)


@pytest.mark.parametrize(
    "preview", [fails, ends_the_program, says_nothing, has_odd_rows, hangs]
)
def test_a_preview_that_fails_leaves_the_arguments_to_speak(preview, monkeypatch):
    monkeypatch.setattr(why, "PREVIEW_S", 0.2)

    @tool(effect=Effect.IRREVERSIBLE, preview=preview)
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    with registry.added(greet):
        act = why.act(parked_on(greet))

    assert act is not None
    assert not act.is_previewed
    assert [one.value for one in act.fields] == ["x"]


def test_a_preview_shows_only_what_a_page_can_say():
    def preview(arguments: Any, context: Any) -> Any:
        return Preview("Greet \ud800", (("Words", 7, "text"),))  # type: ignore[arg-type]

    @tool(effect=Effect.IRREVERSIBLE, preview=preview)
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    with registry.added(greet):
        act = why.act(parked_on(greet))

    assert act is not None
    assert act.headline == "Greet \ufffd"
    assert [one.value for one in act.fields] == ["7"]


def test_a_tool_that_is_gone_is_said_so():
    run = factory.make_run()
    call = factory.make_call(run, {"a": 1}, tool="not_there")

    act = why.act(factory.park(run, call=call))

    assert act is not None
    assert not act.is_known
