"""Why a run is parked is told with its figures, and what would happen, whole."""

from __future__ import annotations

import time
from typing import Any

import pytest

from reviews import why
from reviews.models import Review
from runs.states import ParkReason
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


def a_review(reason: str = "low_confidence", **fields: Any) -> Review:
    values = {"question": "Why?", "detail": {}, "proposal": {}}
    return Review(reason=reason, **values | fields)


def test_a_check_is_a_gauge_and_says_what_would_have_passed():
    told = why.why(a_review(detail={"figures": CHECK}))

    assert told.gauge is not None
    assert (told.gauge.stated_words, told.gauge.needed_words) == ("62 %", "80 %")
    points = dict(told.points)
    assert points["The check says"] == "“It may be right.”"
    assert (
        points["Would have passed"]
        == "80 % or more, and no case of: a month grows more than 30 %"
    )


def test_a_budget_tells_its_figures():
    figures = {
        "budget": "money",
        "used": "$0.49",
        "limit": "$0.50",
        "needed": "$0.02",
        "forecast": "$0.10",
    }

    points = dict(why.why(a_review("budget", detail={"figures": figures})).points)

    assert points == {
        "Used": "$0.49 of $0.50",
        "Next call": "at most $0.02",
        "To the end": "about $0.10 more",
    }


def test_the_last_error_is_told_with_its_class():
    error = {"class": "fatal", "text": "401: the key was refused"}

    points = dict(why.why(a_review("fatal", detail={"error": error})).points)

    assert points["Last error"] == "401: the key was refused (fatal)"


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
