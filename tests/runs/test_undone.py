"""Steps that a person took back say nothing and count nowhere."""

from __future__ import annotations

from runs.states import StepKind, StepStatus
from runs.undone import standing, undoes
from runs.values import StepValue

DONE, SKIPPED = StepStatus.SUCCEEDED, StepStatus.SKIPPED


def step(number, kind=StepKind.MODEL, status=DONE, name="", **response):
    return StepValue(number, kind, status, name, response=response)


def decision(number, name="approve", **response):
    return step(number, StepKind.DECISION, DONE, name, **response)


def test_the_decision_what_it_planned_and_the_undo_are_left_out():
    steps = [
        step(1),
        decision(2),
        step(3, StepKind.TOOL, SKIPPED),
        decision(4, "undo", undoes=2),
        decision(5, "reject"),
    ]

    assert [one.number for one in standing(steps)] == [1, 5]


def test_decisions_may_be_taken_back_again_and_again():
    steps = [
        step(1),
        decision(2),
        step(3, StepKind.TOOL, SKIPPED),
        decision(4, "undo", undoes=2),
        decision(5),
        step(6, StepKind.TOOL, SKIPPED),
        decision(7, "undo", undoes=5),
    ]

    assert [one.number for one in standing(steps)] == [1]


def test_nothing_is_left_out_where_nothing_was_taken_back():
    steps = [step(1), decision(2), step(3, StepKind.TOOL)]

    assert standing(steps) is steps


def test_a_tool_that_is_called_undo_takes_nothing_back():
    assert undoes(step(3, StepKind.TOOL, DONE, "undo", undoes=2)) == 0
