"""What would happen is shown whole, each value with where it comes from."""

from __future__ import annotations

import time
from typing import Any

import pytest

from reviews import act
from reviews.models import Review
from runs.states import ParkReason
from runs.tools import registry
from runs.tools.base import Effect, Preview, tool
from tests.support import factory

pytestmark = pytest.mark.django_db


def test_arguments_are_typed_and_whole():
    review = factory.park()

    told = act.act(review)

    assert told is not None
    shown = {one.label: (one.kind, one.value) for one in told.fields}
    assert shown["To"] == ("list", "analytics@example.com")
    assert shown["Subject"] == ("text", "Q3 2024 Revenue Summary")
    assert shown["Body"][1] == factory.MAIL["body"]
    assert (told.reversibility, told.is_irreversible) == ("Cannot be undone", True)


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
        told = act.act(parked_on(greet))

    assert told is not None
    assert (told.headline, told.warning) == ("Greet x", "It is loud.")
    assert [one.value for one in told.fields] == ["Hello x"]
    assert [one.value for one in told.arguments] == ["x"]


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
    monkeypatch.setattr(act, "PREVIEW_S", 0.2)

    @tool(effect=Effect.IRREVERSIBLE, preview=preview)
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    with registry.added(greet):
        told = act.act(parked_on(greet))

    assert told is not None
    assert not told.is_previewed
    assert [one.value for one in told.fields] == ["x"]


def test_a_preview_shows_only_what_a_page_can_say():
    def preview(arguments: Any, context: Any) -> Any:
        return Preview("Greet \ud800", (("Words", 7, "text"),))  # type: ignore[arg-type]

    @tool(effect=Effect.IRREVERSIBLE, preview=preview)
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    with registry.added(greet):
        told = act.act(parked_on(greet))

    assert told is not None
    assert told.headline == "Greet \ufffd"
    assert [one.value for one in told.fields] == ["7"]


def test_a_tool_that_is_gone_is_said_so():
    run = factory.make_run()
    call = factory.make_call(run, {"a": 1}, tool="not_there")

    told = act.act(factory.park(run, call=call))

    assert told is not None
    assert not told.is_known
