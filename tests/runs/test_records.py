"""Records: what a commit says of a run beside its steps."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from runs import recording
from runs.records import Fence, Move, Record, Result
from runs.states import RunState, StepStatus
from tests.support.rows import make_run

FENCE = Fence(UUID(int=1), 1, "owner")
NOW = datetime(2026, 9, 30, tzinfo=UTC)


def marks(*, status=StepStatus.SUCCEEDED, state=None):
    """Of a commit that closes a step so, and moves the run there."""
    moves = (Move(RunState.EXECUTING, state, "over", "ana", NOW),) if state else ()
    return Record(FENCE, Result(1, status, {}, NOW), moves=moves).marks


@pytest.mark.parametrize("status", [StepStatus.FAILED, StepStatus.OUTCOME_UNKNOWN])
def test_a_step_that_failed_marks_its_run(status):
    assert marks(status=status) == {"had_error": True}


@pytest.mark.parametrize("status", [StepStatus.SUCCEEDED, StepStatus.SKIPPED])
def test_another_step_does_not(status):
    assert marks(status=status) == {}


@pytest.mark.parametrize("state", [RunState.COMPLETED, RunState.ABORTED])
def test_the_end_of_a_run_is_its_outcome(state):
    assert marks(state=state) == {"outcome": state.value}


def test_an_end_as_an_error_marks_it_as_well():
    assert marks(state=RunState.ERROR) == {"outcome": "error", "had_error": True}


def test_a_park_is_no_outcome():
    assert marks(state=RunState.AWAITING_HUMAN) == {}


@pytest.mark.django_db
def test_marks_are_written_with_the_commit():
    run = make_run(sequence=1, state="executing", lease_owner="owner")
    move = Move(RunState.EXECUTING, RunState.ERROR, "nobody can help", "w", NOW)
    fields = {"finished_at": NOW}

    recording.commit(Record(Fence(run.pk, 1, "owner"), moves=(move,), fields=fields))

    run.refresh_from_db()
    assert (run.outcome, run.had_error) == ("error", True)
