"""Which steps still count once a person has taken a decision back. Pure.

Taking back removes no step: it adds one, named `UNDO`, that says which decision it
takes back. That decision, what was planned on it and the undo itself then say nothing
to the conversation and count nowhere, as if the decision had never been made.
"""

from __future__ import annotations

from collections.abc import Sequence

from runs.states import StepKind
from runs.values import StepValue

UNDO = "undo"
"""The name of the step, beside the kinds of verdicts."""
TAKEN_BACK = "decision taken back"
"""Why a run moved back to where it waited: it did not park anew."""


def undoes(step: StepValue) -> int:
    """The number of the decision that this step takes back; 0 for any other step."""
    if step.kind is not StepKind.DECISION or step.name != UNDO:
        return 0
    response = step.response if isinstance(step.response, dict) else {}
    return int(response.get("undoes") or 0)


def standing(steps: Sequence[StepValue]) -> Sequence[StepValue]:
    """The steps that count, in their order."""
    gone: set[int] = set()
    for step in steps:
        first = undoes(step)
        if first:
            gone.update(range(first, step.number + 1))
    return [step for step in steps if step.number not in gone] if gone else steps
