"""Whatever a tool's code gives back, asking it ends, and what is kept is plain."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from runs.errors import OutcomeUnknown
from runs.tools.base import Effect, Preview, Reconciled, ToolSpec, tool
from runs.tools.perform import perform, preview, reconcile
from tests.runs.tools.calls import context

pytestmark = pytest.mark.once


class Slow:
    """Its text is never ready."""

    def __str__(self) -> str:
        for _ in itertools.count():
            pass
        raise AssertionError


def giving(value: Any) -> Callable[..., Any]:
    return lambda *given: value


def spec(name: str, result: Any = None, **given: Any) -> ToolSpec:
    @tool(effect=Effect.IRREVERSIBLE, name=name, **given)
    def example() -> Any:
        """Act."""
        return result

    return example


def endless_rows() -> Any:
    return (("label", "value", "text") for _ in itertools.count())


BAD_PREVIEWS = {
    "endless": Preview("h", endless_rows()),
    "giant": Preview("h", (("l", "v", "text"),) * 501),
    "slow": Preview(Slow()),  # type: ignore[arg-type]
    "rows of two": Preview("h", (("l", "v"),)),  # type: ignore[arg-type]
    "nothing": None,
    "an exit": SystemExit(1),
}


@pytest.mark.parametrize("found", BAD_PREVIEWS.values(), ids=BAD_PREVIEWS)
def test_a_page_does_without_a_preview_that_is_none(found: Any) -> None:
    bad = spec("bad_preview", preview=giving(found))

    assert preview(bad, {}, context(0.3)) is None


@pytest.mark.parametrize(
    "found", [None, "happened", 7, SystemExit(1), {"outcome": "happened"}]
)
def test_an_answer_that_is_none_tells_nothing(found: Any) -> None:
    bad = spec("bad_answer", reconcile=giving(found))

    assert reconcile(bad, {}, context()).outcome is Reconciled.UNKNOWN


def test_a_generator_is_not_worked_off() -> None:
    result = perform(spec("endless", itertools.count()), {}, context())

    assert result == "count(0)"


def test_a_result_that_is_never_ready_leaves_the_outcome_unknown() -> None:
    with pytest.raises(OutcomeUnknown, match="did not answer"):
        perform(spec("slow", Slow()), {}, context(0.2))


def test_a_preview_of_many_rows_is_shown_whole() -> None:
    rows: Any = (("label\x00", 7, "text"),) * 500
    found = preview(spec("good", preview=giving(Preview("h", rows))), {}, context())

    assert found == Preview("h", (("label␀", "7", "text"),) * 500)
