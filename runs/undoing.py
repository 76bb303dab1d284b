"""Taking a decision back, for as long as no driver has begun with what it allows.

A decision may take effect later than it was made (`Run.wake_at` is ahead). Until
then nobody claims the run; `take_back` moves it back to where it waited, in the
caller's transaction, and adds a step that says so.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock
from runs import points, recording, records
from runs.errors import Stale
from runs.models import Run, Step
from runs.records import Fence, Move, Planned, Record, Result
from runs.states import ParkReason, RunState, StepKind, StepStatus
from runs.undone import TAKEN_BACK, UNDO

TOO_LATE = "Too late: it has begun."


@points.write("take back")
def take_back(run_id: UUID, *, by: User, sequence: int, effective_at: datetime) -> int:
    """Undo the decision made on the park at `sequence`; returns the new sequence.

    Needs a transaction of the caller's. The park is restored as it was; the step that
    was planned on the decision is skipped. Raises `Stale` unless the run still waits
    for `effective_at`, unclaimed, at the step which the decision planned.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("take_back needs the caller's transaction")
    decided, planned = sequence + 1, sequence + 2
    _keep_from_drivers(run_id, planned, effective_at)
    run = Run.objects.get(id=run_id)
    decision = Step.objects.get(run_id=run_id, number=decided)
    _refuse_begun(run_id, planned)
    state, now = RunState(run.state), clock.now()
    recording.commit(
        Record(
            fence=Fence(run_id, planned, "", state),
            result=_skipped(planned, now),
            steps=(_undo(decision, by.get_username(), now),),
            moves=(_move(state, by, now),),
            fields=_parked_again(decision, now),
        )
    )
    points.reach("inside take back")
    return planned + 1


def _keep_from_drivers(run_id: UUID, sequence: int, effective_at: datetime) -> None:
    """From here on nobody claims it. A driver that was here left a mark: its lease,
    a counted claim, or the time at which it gave the run back."""
    waiting = Run.objects.filter(
        id=run_id,
        sequence=sequence,
        state__in=[state.value for state in RunState if state.is_active],
        wake_at=effective_at,
        lease_owner="",
        claims=0,
    )
    if not waiting.update(wake_at=None):
        raise Stale(TOO_LATE)


def _refuse_begun(run_id: UUID, number: int) -> None:
    untouched = Step.objects.filter(
        run_id=run_id, number=number, status=StepStatus.PLANNED.value, attempts=0
    )
    if not untouched.exists():
        raise Stale(TOO_LATE)


def _move(state: RunState, by: User, now: datetime) -> Move:
    parked, actor = RunState.AWAITING_HUMAN, by.get_username()
    return Move(state, parked, TAKEN_BACK, actor, now, by.pk)


def _skipped(number: int, now: datetime) -> Result:
    return Result(
        number,
        StepStatus.SKIPPED,
        {},
        now,
        error_class="undone",
        error_text="The decision was taken back.",
        attempts=0,
    )


def _undo(decision: Step, actor: str, now: datetime) -> Planned:
    request: dict[str, Any] = dict(decision.request)
    return Planned(
        number=decision.number + 2,
        kind=StepKind.DECISION,
        state=RunState.AWAITING_HUMAN,
        name=UNDO,
        request={
            "call_id": request.get("call_id"),
            "reason": request.get("reason"),
            "actor": actor,
        },
        response={"kind": UNDO, "undoes": decision.number, "undone": decision.name},
        planned_at=now,
        status=StepStatus.SUCCEEDED,
    )


def _parked_again(decision: Step, now: datetime) -> dict[str, Any]:
    request: dict[str, Any] = dict(decision.request)
    park = request.get("park")
    if not park:
        raise Stale("This decision took effect at once and cannot be taken back.")
    reason = ParkReason(park["reason"]).value
    again = {"park_reason": reason, "park": park, "parked_at": now}
    return records.RELEASED | again
