"""What a tool does in its own process, and leaves there, harms nobody."""

from __future__ import annotations

import pytest

from runs.errors import OutcomeUnknown
from runs.tools.perform import perform
from tests.runs.tools.calls import (
    context,
    isolated_exit,
    isolated_giant,
    isolated_leaver,
)

pytestmark = pytest.mark.once


def test_what_a_tool_leaves_behind_does_not_hold_its_result_up() -> None:
    assert perform(isolated_leaver, {}, context(60)) == "left"


def test_an_act_with_a_giant_result_has_happened() -> None:
    result = perform(isolated_giant, {}, context(60))

    assert "was not kept" in result


def test_an_act_that_ends_its_process_is_of_unknown_outcome() -> None:
    with pytest.raises(OutcomeUnknown, match="ended with 0"):
        perform(isolated_exit, {}, context(60))
