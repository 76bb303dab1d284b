"""The writes of the step protocol: each one commit, fenced by lease and sequence.

`commit` is the one that happens at every step: the result of step k, the plan of
step k+1 and at most one change of state. On PostgreSQL what a driver writes is a
single statement; whatever acts in the world or comes from a person goes through the
ORM in one transaction, as everything does on SQLite.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Round
from django.utils.functional import SimpleLazyObject

from runs import points, recording_sql, states
from runs.canonical import Json
from runs.errors import LeaseLost, Stale
from runs.models import Attempt, Effect, Run, Step, Transition
from runs.records import Delta, Fence, Move, Planned, Record, Result, Settled
from runs.signals import run_changed
from runs.states import EffectStatus, RunState, StepStatus
from runs.values import RunChange

COST_PLACES = 10
_OPEN = [StepStatus.PLANNED.value, StepStatus.STARTED.value]


@points.write("commit")
def commit(record: Record) -> None:
    """Write the record; raises `LeaseLost` (a driver) or `Stale` (a person).

    One transaction of its own, or part of the caller's. Receivers of `run_changed`
    write in the same one when the run parks, leaves a park, or ends.
    """
    for move in record.moves:
        states.check(move.old, move.new)
    if marks := record.marks:
        record = replace(record, fields={**record.fields, **marks})
    is_one = connection.vendor == "postgresql" and recording_sql.fits(record)
    write = _write_at_once if is_one else _write
    if is_one and not any(map(_is_news, record.moves)):
        points.reach("inside commit")  # the whole statement is one commit
        write(record)
        return
    with transaction.atomic():
        write(record)
        _tell_news(record)
        points.reach("inside commit")


def _write_at_once(record: Record) -> None:
    if not recording_sql.write(record):
        raise LeaseLost


def _write(record: Record) -> None:
    _update_run(record)
    _write_steps(record)
    _write_moves(record)


def _update_run(record: Record) -> None:
    values: dict[str, Any] = {
        "sequence": record.sequence,
        "claims": 0,
        "claims_alone": 0,
        **_added(record.delta),
    }
    if record.moves:
        values["state"] = record.moves[-1].new.value
    values |= record.fields
    if not Run.objects.filter(**record.fence.where).update(**values):
        raise LeaseLost if record.fence.owner else Stale


def _added(delta: Delta) -> dict[str, Any]:
    """The columns of a run that count."""
    return {
        "steps_used": F("steps_used") + delta.steps,
        "active_ms": F("active_ms") + delta.active_ms,
        "tokens": F("tokens") + delta.tokens,
        "cost": _plus(delta.cost),
        **_estimated(delta.is_estimated),
    }


def _plus(amount: Decimal) -> Round:
    """Exact on SQLite too, which adds decimals as floats: none may be carried on."""
    return Round(F("cost") + amount, precision=COST_PLACES)


def _estimated(is_estimated: bool) -> dict[str, bool]:
    """Once a part of a cost was a guess, the sum is one."""
    return {"is_estimated": True} if is_estimated else {}


def _write_steps(record: Record) -> None:
    if record.result is not None:
        _close_step(record.fence.run_id, record.result)
    if record.result is not None and record.effect is not None:
        _settle_effect(record.fence.run_id, record.result, *record.effect)
    Step.objects.bulk_create([_row(record.fence.run_id, step) for step in record.steps])


def _settle_effect(
    run_id: UUID, result: Result, key: str, status: EffectStatus, stored: Json
) -> None:
    """Only what this very step started: a step that was served by the ledger, or
    refused because of it, changes nothing there."""
    Effect.objects.filter(
        key=key,
        run_id=run_id,
        step_number=result.number,
        status=EffectStatus.STARTED.value,
    ).update(status=status.value, result=stored, finished_at=result.finished_at)


def _close_step(run_id: UUID, result: Result) -> int:
    return Step.objects.filter(
        run_id=run_id,
        number=result.number,
        status__in=_OPEN,
    ).update(
        status=result.status.value,
        response=result.response,
        finished_at=result.finished_at,
        started_at=result.started_at,
        error_class=result.error_class,
        error_text=result.error_text,
        confidence=result.confidence,
        attempts=result.attempts,
        input_tokens=result.input_tokens,
        cached_tokens=result.cached_tokens,
        output_tokens=result.output_tokens,
        cost=_plus(result.cost),
        **_estimated(result.is_estimated),
    )


def _row(run_id: UUID, step: Planned) -> Step:
    is_done = not step.status.is_open
    return Step(
        run_id=run_id,
        number=step.number,
        kind=step.kind.value,
        status=step.status.value,
        state=step.state.value,
        name=step.name,
        request=step.request,
        response=step.response,
        digest=step.digest,
        plan_item=step.plan_item,
        reserved_tokens=step.reserved_tokens,
        reserved_cost=step.reserved_cost,
        planned_at=step.planned_at,
        started_at=step.planned_at if is_done else None,
        finished_at=step.planned_at if is_done else None,
    )


def _write_moves(record: Record) -> None:
    run_id = record.fence.run_id
    Transition.objects.bulk_create(
        [
            Transition(
                run_id=run_id,
                from_state=move.old.value,
                to_state=move.new.value,
                reason=move.reason,
                actor=move.actor,
                by_id=move.by,
                at=move.at,
            )
            for move in record.moves
        ]
    )


def _tell_news(record: Record) -> None:
    for move in record.moves:
        if _is_news(move):
            _tell(record.fence.run_id, move)


def _is_news(move: Move) -> bool:
    return move.new.is_final or RunState.AWAITING_HUMAN in {move.old, move.new}


def _tell(run_id: UUID, move: Move) -> None:
    rows = Run.objects.select_related("agent", "version", "submitter")
    parks = move.new is RunState.AWAITING_HUMAN
    # Read when first looked at: most runs end without anybody wanting to know more.
    run = cast("Run", SimpleLazyObject(lambda: rows.get(id=run_id)))
    run_changed.send(
        Run,
        run=run,
        change=RunChange(
            run_id=run_id,
            from_state=move.old,
            to_state=move.new,
            reason=move.reason,
            actor=move.actor,
            at=move.at,
            park=run.park if parks else None,
            by=move.by,
        ),
    )


@points.write("start effect")
def start_effect(fence: Fence, effect: Effect) -> Effect:
    """Mark the step `started` and enter the effect: right before the act.

    Returns the row that stands under the key: ours, or the one of an earlier run of
    the same root that is done already (then nothing may be performed). A row that is
    known not to have happened is started anew. Raises `LeaseLost`.
    """
    with transaction.atomic():
        if not Run.objects.filter(**fence.where).update(claims=0):
            raise LeaseLost
        Step.objects.filter(run_id=fence.run_id, number=fence.sequence).update(
            status=StepStatus.STARTED.value, started_at=effect.started_at
        )
        stands = _enter(effect)
        points.reach("inside start effect")
    return stands


def _enter(effect: Effect) -> Effect:
    made, created = Effect.objects.get_or_create(
        key=effect.key,
        defaults={
            name: getattr(effect, name)
            for name in (
                "root_id",
                "run_id",
                "step_number",
                "tool",
                "arguments_digest",
                "occurrence",
                "status",
                "owner",
                "started_at",
            )
        },
    )
    if created or made.status != EffectStatus.NOT_DONE.value:
        return made
    anew = Effect.objects.filter(key=effect.key, status=made.status).update(
        status=EffectStatus.STARTED.value,
        owner=effect.owner,
        step_number=effect.step_number,
        run_id=effect.run_id,
        started_at=effect.started_at,
        finished_at=None,
    )
    return effect if anew else Effect.objects.get(key=effect.key)


@points.write("retry")
def retry(fence: Fence, attempt: Attempt, delta: Delta) -> None:
    """Record a try that failed and let go of the run until it is to be repeated.

    The wait is a time in the run's row: it holds no worker and survives a restart.
    An irreversible step that sent nothing is `planned` again. Raises `LeaseLost`.
    """
    with transaction.atomic():
        if not Run.objects.filter(**fence.where).update(
            wake_at=attempt.retry_at,
            lease_owner="",
            lease_until=None,
            claims=0,
            claims_alone=0,
            **_added(delta),
        ):
            raise LeaseLost
        Step.objects.filter(run_id=fence.run_id, number=fence.sequence).update(
            status=StepStatus.PLANNED.value,
            attempts=attempt.number,
            cost=_plus(delta.cost),
            **_estimated(delta.is_estimated),
        )
        Effect.objects.filter(
            run_id=fence.run_id,
            step_number=fence.sequence,
            status=EffectStatus.STARTED.value,
        ).update(status=EffectStatus.NOT_DONE.value, finished_at=attempt.finished_at)
        attempt.save(force_insert=True)
        points.reach("inside retry")


@points.write("late result")
def keep_late_result(
    fence: Fence, result: Result, delta: Delta, effect: Settled | None
) -> None:
    """What came of a step that was no longer its driver's: an event, no more.

    Of a run that was aborted meanwhile the step is closed and its cost counted. For
    one that was taken over nothing is written but what the ledger lacks: that this
    driver's act took effect. So whoever is asked about it can see it, and it is not
    made again whatever they say.
    """
    with transaction.atomic():
        if _count_late(fence.run_id, result.number, delta):
            _close_step(fence.run_id, result)
            if effect is not None:
                _settle_effect(fence.run_id, result, *effect)
        elif effect is not None:
            _tell_ledger(fence, result, *effect)
        points.reach("inside late result")


def _tell_ledger(
    fence: Fence, result: Result, key: str, status: EffectStatus, stored: Json
) -> None:
    if status is not EffectStatus.DONE:
        return
    list(Run.objects.select_for_update().filter(id=fence.run_id))  # the run first
    Effect.objects.filter(
        key=key,
        run_id=fence.run_id,
        step_number=result.number,
        owner=fence.owner,
        status__in=[EffectStatus.STARTED.value, EffectStatus.UNKNOWN.value],
    ).update(status=status.value, result=stored, finished_at=result.finished_at)


def _count_late(run_id: UUID, number: int, delta: Delta) -> int:
    aborted = Run.objects.filter(
        id=run_id,
        state=RunState.ABORTED.value,
        steps__number=number,
        steps__status__in=_OPEN,
    )
    return aborted.update(**_added(delta))
