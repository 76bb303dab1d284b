"""The table of legal moves is the one that was agreed on, and the database knows it."""

from __future__ import annotations

import itertools

import pytest
from django.db import IntegrityError, transaction

from runs import states
from runs.errors import IllegalTransition
from runs.states import ACTIVE, FINAL, LEGAL, ParkReason, RunState, StepStatus
from tests.support.rows import make_run

AGREED = """
idle           → planning executing awaiting_human aborted error
planning       → executing awaiting_human error aborted
executing      → observing planning completing awaiting_human error aborted
observing      → executing planning completing awaiting_human error aborted
awaiting_human → planning executing observing completing aborted error
completing     → completed error
completed      →
error          →
aborted        →
"""
MOVES = {
    (RunState(old.strip()), RunState(new))
    for line in AGREED.strip().splitlines()
    for old, _, after in [line.partition("→")]
    for new in after.split()
}


@pytest.mark.parametrize(("old", "new"), list(itertools.product(RunState, RunState)))
def test_a_move_is_legal_exactly_if_it_was_agreed_on(old, new):
    if (old, new) in MOVES:
        states.check(old, new)
    else:
        with pytest.raises(IllegalTransition):
            states.check(old, new)


def test_every_state_is_final_active_or_parked():
    assert set(LEGAL) == set(RunState)
    assert FINAL | ACTIVE | {RunState.AWAITING_HUMAN} == set(RunState)
    assert {state for state in RunState if not LEGAL[state]} == FINAL
    assert all(state.is_final != state.is_active for state in FINAL | ACTIVE)


def test_completing_never_goes_back():
    assert LEGAL[RunState.COMPLETING] == {RunState.COMPLETED, RunState.ERROR}


def test_people_read_parked_and_words():
    assert RunState.AWAITING_HUMAN.label == "parked"
    assert RunState.IDLE.label == "idle"
    assert all(reason.label[0].isupper() for reason in ParkReason)
    assert dict(states.choices(StepStatus))["outcome_unknown"] == "outcome unknown"


def test_only_planned_and_started_steps_are_open():
    is_open = {status for status in StepStatus if status.is_open}

    assert is_open == {StepStatus.PLANNED, StepStatus.STARTED}


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["running", "", "completed", "awaiting_human"])
def test_the_database_refuses_a_state_that_is_none_or_lacks_its_time(state):
    run = make_run()

    with pytest.raises(IntegrityError), transaction.atomic():
        type(run).objects.filter(pk=run.pk).update(state=state)
