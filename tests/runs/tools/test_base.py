"""What a tool says of itself and of its calls, and that it says so in time."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from runs.errors import Fatal
from runs.tools import asking, threads
from runs.tools.base import Effect, ToolSpec, titled, tool
from tests.support.wait import wait_until


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("send_email", "Send e-mail"),
        ("http_request", "HTTP request"),
        ("look_up", "Look up"),
        ("", "Tool"),
    ],
)
def test_a_name_becomes_words(name, words):
    assert titled(name) == words


def _endless(*given: Any) -> Any:
    for _ in itertools.count():
        pass


def _exits(*given: Any) -> Any:
    raise SystemExit(1)


_numbers = itertools.count(1)


def spec(**given: Any) -> ToolSpec:
    """A tool of its own name: what hangs in another does not count."""

    @tool(effect=Effect.READ, name=f"example_{next(_numbers)}", **given)
    def example() -> str:
        """Be an example."""
        return "done"

    return example


@tool(effect=Effect.READ)
def endless_type(
    text: Annotated[str, AfterValidator(lambda value: _endless(value))],
) -> str:
    """Check an argument for ever."""
    return text


@tool(effect=Effect.READ)
def ending_type(
    text: Annotated[str, AfterValidator(lambda value: _exits(value))],
) -> str:
    """End the program for an argument."""
    return text


def typed(bad: Any) -> ToolSpec:
    given = endless_type if bad is _endless else ending_type
    return replace(given, name=f"example_{next(_numbers)}")


ASKED = {
    "effect": lambda bad: spec(effect_of=bad).effect_for({}),
    "check": lambda bad: spec(check=bad).vet({}, {}),
    "arguments": lambda bad: typed(bad).validate({"text": "x"}),
    "problems": lambda bad: typed(bad).problems({"text": "x"}),
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "ANSWER_S", 0.2)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_t04_who_asks_a_tool_of_its_call_gets_an_answer_in_time(ask):
    with pytest.raises(Fatal, match=r"no answer within 0.2 s"):
        ask(_endless)


@pytest.mark.usefixtures("impatient")
def test_t04_a_tool_that_hangs_in_one_answer_is_not_asked_for_another():
    release = threading.Event()
    hanging = spec(check=lambda *given: release.wait(20), effect_of=lambda *given: 1)
    with pytest.raises(Fatal):
        hanging.vet({}, {})

    with pytest.raises(Fatal, match="an earlier answer has not come"):
        hanging.effect_for({})

    release.set()


@pytest.mark.usefixtures("impatient")
def test_t04_a_tool_that_hung_lately_is_waited_for_less(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(asking, "HASTE_S", 0.1)
    hanging = spec(check=lambda *given: given[0].get("good") or _endless())
    with pytest.raises(Fatal, match=r"within 0.2 s"):
        hanging.vet({}, {})
    wait_until(lambda: not threads._left[f"{hanging.name} itself"])

    with pytest.raises(Fatal, match=r"within 0.1 s"):
        hanging.vet({}, {})
    wait_until(lambda: not threads._left[f"{hanging.name} itself"])
    hanging.vet({"good": True}, {})


@pytest.mark.usefixtures("impatient")
def test_t04_a_tool_that_hangs_in_its_words_is_called_by_its_name():
    assert spec(describe=_endless).words({}).startswith("Example")


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_a_tool_that_would_end_the_program_is_at_fault(ask):
    with pytest.raises(Fatal, match="tried to end the program"):
        ask(_exits)


def test_no_tool_has_endless_words():
    assert len(spec(describe=lambda given: "x" * 1_000_000).words({})) == 4_000
