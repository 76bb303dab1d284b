"""After a restore: what happened since the backup is in no row, so a person is asked.

The ledger is as old as the backup. A call that it does not know may have been made
since; whoever would make it again on its word could act twice. So every run that was
under way is marked: its irreversible calls ask from now on, and one that was about to
run counts as started by a process that is gone.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from agentops import clock
from runs import leases, points, recording
from runs.models import Driver, Effect, Run, Step
from runs.records import RESTORE, Fence, started
from runs.states import EffectStatus, RunState, StepStatus
from runs.tools.base import IRREVERSIBLE

WARNING = "A backup was restored: this may have been decided and carried out since."


def end_drivers() -> None:
    """None of those that the backup knows holds anything here.

    Call it only where no worker runs on this database.
    """
    for owner in Driver.objects.filter(ended_at=None).values_list("pk", flat=True):
        leases.end(owner)


def under_way() -> list[UUID]:
    """The runs that have not ended, oldest first."""
    found = Run.objects.filter(finished_at=None).order_by("created_at")
    return list(found.values_list("pk", flat=True))


@points.write("mark restored")
def mark(run_id: UUID) -> bool:
    """Let this run's irreversible calls ask; True if one may have happened already.

    In the caller's transaction, which holds the run's lock, with all drivers ended.
    What it is parked with gets a warning before its question. Safe to repeat.
    """
    now = clock.now()
    run = Run.objects.get(pk=run_id)
    Run.objects.filter(pk=run_id).update(
        restored_at=now, lease_owner="", lease_until=None
    )
    if run.state == RunState.AWAITING_HUMAN:
        return _warn(run)
    step = Step.objects.filter(run=run, number=run.sequence).first()
    request: Any = step.request if step else {}
    if step is None or not _is_about_to_act(step):
        return False
    if Effect.objects.filter(key=request["key"], status=EffectStatus.DONE).exists():
        return False  # the ledger answers, nothing is done
    effect = started(run, step, RESTORE, now)
    recording.start_effect(Fence(run.pk, run.sequence), effect)
    return True


def _is_about_to_act(step: Step) -> bool:
    request: Any = step.request
    is_act = request.get("effect") == IRREVERSIBLE and "seal" in request
    return is_act and step.status == StepStatus.PLANNED


def _warn(run: Run) -> bool:
    park: Any = run.park
    call = park["call"] or {}
    if call.get("effect") != IRREVERSIBLE:
        return False
    question = park["question"].removeprefix(WARNING).strip()
    park = park | {"question": f"{WARNING} {question}"}
    Run.objects.filter(pk=run.pk).update(park=park)
    return True
