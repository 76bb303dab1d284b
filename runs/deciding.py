"""A person's decision as the run takes it: a step of its own, then the next one.

`resume` writes the decision step, plans what follows and moves the run on, in the
caller's transaction, where the review is closed as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock
from runs import (
    fitting,
    hiding,
    history,
    planning,
    points,
    policy,
    queue,
    recording,
    records,
)
from runs.canonical import Json, clean, clean_object, clean_text, digest
from runs.errors import BadInput, Stale
from runs.facts import Action, Facts, Finish, NewStep
from runs.fitting import Changed, allowed_verdicts
from runs.models import Effect, Run
from runs.progress import Progress
from runs.records import Fence, Move, Planned, Record
from runs.states import EffectStatus, RunState, StepKind, StepStatus
from runs.tools.base import IRREVERSIBLE
from runs.values import ProposedCall, Verdict, VerdictKind

__all__ = ["Changed", "allowed_verdicts", "edited", "reseal", "resume", "terms"]

V = VerdictKind


def edited(run_id: UUID, arguments: Mapping[str, Json]) -> ProposedCall:
    """The parked call with other arguments, validated and sealed. Reads only.

    Raises `BadInput` with a field per wrong argument, `Stale` if no call is parked.
    """
    run = Run.objects.select_related("version").get(id=run_id)
    return fitting.edited(run, _facts(run), arguments)


def reseal(run_id: UUID, *, sequence: int) -> dict[str, str]:
    """Seal the call that a run waits with anew, as policy and schema are now.

    In the caller's transaction; returns the seal. Raises `Stale` if the run does not
    wait at that sequence, or if its tool may not be used any more.
    """
    run = Run.objects.select_related("version").get(id=run_id)
    park: dict[str, Any] = run.park or {}
    offered = (
        fitting.usable(_facts(run), park["call"]["tool"]) if park.get("call") else None
    )
    if offered is None:
        raise Stale("The run does not wait with a call.")
    seal = offered.seal(park["call"]["arguments"])
    waiting = Run.objects.filter(
        id=run_id, state=RunState.AWAITING_HUMAN.value, sequence=sequence
    )
    if not waiting.update(park=park | {"seal": seal, "terms": offered.terms}):
        raise Stale("The run does not wait for this decision any more.")
    return seal


def terms(run_id: UUID) -> dict[str, Json]:
    """Under which the call that a run waits with would run now. Reads only."""
    run = Run.objects.select_related("version").get(id=run_id)
    call = (run.park or {}).get("call")
    offered = _facts(run).toolbox.tools.get(call["tool"]) if call else None
    return offered.terms if offered else {}


@points.write("resume")
def resume(
    run_id: UUID,
    verdict: Verdict,
    *,
    by: User,
    sequence: int,
    wake_at: datetime | None = None,
) -> None:
    """Take a decision and let the run go on, from `wake_at` (now, if None).

    With `wake_at` ahead it can be taken back until then (`runs.undoing`).

    Needs a transaction of the caller's; wakes a driver in it. Raises `Stale` if the
    run does not wait at that sequence or what was shown has changed since, and
    `BadInput` if the verdict does not fit.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("resume needs the caller's transaction")
    verdict = hiding.verdict(verdict)
    run = Run.objects.select_related("version").get(id=run_id)
    if run.state != RunState.AWAITING_HUMAN or run.sequence != sequence:
        raise Stale("The run does not wait for this decision any more.")
    now = clock.now()
    park: dict[str, Any] = run.park or {}
    facts = _facts(run)
    fitting.check_fits(run, facts, park, verdict)
    limits = fitting.topped_up(run, verdict)
    step = _decision(run, park, verdict, by, now, wake_at)
    facts = replace(facts, limits=limits, sequence=step.number)
    _settle_effect(run, park, verdict, step, by)
    if verdict.kind in {V.ABORT, V.FORK}:
        _write(run, step, by, verdict, now, (RunState.ABORTED,), _aborted(run, now))
        return
    progress = _progress(run, step)
    action = planning.next_action(facts, progress)
    fitting.refuse_short_top_up(verdict, action)
    fields = {"wake_at": wake_at or now} | _plan_fields(run, progress)
    if verdict.kind is V.TOP_UP:
        fields["limits"] = limits
    _go_on(run, step, action, verdict, by, now, fields)
    queue.wake()
    points.reach("inside resume")


def _facts(run: Run) -> Facts:
    return history.facts(run, history.opening(run), policy.live())


def _progress(run: Run, step: Planned) -> Progress:
    steps = [*history.steps(run), step.as_value()]
    return Progress.of(history.opening(run).messages, steps)


# ---- writing it


def _decision(
    run: Run,
    park: Mapping[str, Any],
    verdict: Verdict,
    by: User,
    now: datetime,
    wake_at: datetime | None,
) -> Planned:
    call = park.get("call") or {}
    is_later = wake_at is not None and wake_at > now
    return Planned(
        number=run.sequence + 1,
        kind=StepKind.DECISION,
        state=RunState.AWAITING_HUMAN,
        name=verdict.kind.value,
        request={
            "call_id": call.get("id"),
            "arguments": call.get("arguments"),
            "effect": call.get("effect"),
            "reason": park["reason"],
            "actor": by.get_username(),
            **({"park": dict(park)} if is_later else {}),
        },
        response={
            "kind": verdict.kind.value,
            "text": clean_text(verdict.text),
            "note": clean_text(verdict.note),
            "arguments": _cleaned(verdict.arguments),
            "happened": verdict.happened,
            "result": clean(verdict.result),
            "limits": clean_object(verdict.limits),
            "plan": clean(list(verdict.plan)),
            "seal": park.get("seal") or {},
        },
        planned_at=now,
        status=StepStatus.SUCCEEDED,
    )


def _cleaned(arguments: Mapping[str, Json] | None) -> dict[str, Json] | None:
    return None if arguments is None else clean_object(arguments)


def _settle_effect(
    run: Run, park: Mapping[str, Any], verdict: Verdict, step: Planned, by: User
) -> None:
    """What a person says of an act goes into the ledger."""
    call = park.get("call")
    if call and verdict.kind is V.OUTCOME:
        _record_outcome(call, verdict, step.planned_at)
    if call and verdict.kind is V.SUPPLY and call["effect"] == IRREVERSIBLE:
        _record_done(run, call, verdict, step, by)


def _record_outcome(call: Mapping[str, Any], verdict: Verdict, now: datetime) -> None:
    status = EffectStatus.DONE if verdict.happened else EffectStatus.NOT_DONE
    settled = Effect.objects.filter(
        key=call["key"],
        status__in=[EffectStatus.UNKNOWN.value, EffectStatus.STARTED.value],
    )
    settled.update(status=status.value, result=clean(verdict.result), finished_at=now)


def _record_done(
    run: Run, call: Mapping[str, Any], verdict: Verdict, step: Planned, by: User
) -> None:
    """A call that a person carried out is never made again under its key."""
    now = step.planned_at
    done = {
        "run_id": run.id,
        "step_number": step.number,
        "status": EffectStatus.DONE.value,
        "result": clean(verdict.result),
        "owner": f"person {by.pk}",
        "started_at": now,
        "finished_at": now,
    }
    _, is_new = Effect.objects.get_or_create(
        key=call["key"],
        defaults=done
        | {
            "root_id": run.root_id or run.id,
            "tool": call["tool"],
            "arguments_digest": digest(call["arguments"]),
            "occurrence": call["occurrence"],
        },
    )
    not_done = Effect.objects.filter(key=call["key"], status=EffectStatus.NOT_DONE)
    if not is_new and not not_done.update(**done):
        raise BadInput(
            {"": "This very call has been carried out, or started, already."}
        )


def _plan_fields(run: Run, progress: Progress) -> dict[str, Any]:
    """The run's plan, where the decision has changed it."""
    plan = progress.plan_now()
    if plan == run.plan:
        return {}
    return {"plan": plan, "plan_revision": progress.plan_revision}


def _go_on(
    run: Run,
    step: Planned,
    action: Action,
    verdict: Verdict,
    by: User,
    now: datetime,
    more: Mapping[str, Any],
) -> None:
    fields = {**records.unparked(run, now), **more}
    if isinstance(action, NewStep):
        planned = records.planned(action, step.number + 1, now)
        _write(run, step, by, verdict, now, (action.state,), fields, planned)
    elif isinstance(action, Finish):
        fields["output"] = action.output
        _write(run, step, by, verdict, now, (RunState.COMPLETING,), fields)
    else:
        again = (RunState.EXECUTING, RunState.AWAITING_HUMAN)
        parked = records.parked(action, now)
        _write(run, step, by, verdict, now, again, fields | parked)


def _aborted(run: Run, now: datetime) -> dict[str, Any]:
    return records.RELEASED | records.unparked(run, now) | {"finished_at": now}


def _write(
    run: Run,
    step: Planned,
    by: User,
    verdict: Verdict,
    now: datetime,
    states: tuple[RunState, ...],
    fields: Mapping[str, Any],
    following: Planned | None = None,
) -> None:
    moves, old = [], RunState.AWAITING_HUMAN
    for new in states:
        why = _why(verdict) if old is RunState.AWAITING_HUMAN else "asks again"
        moves.append(Move(old, new, why, by.get_username(), now, by.pk))
        old = new
    recording.commit(
        Record(
            fence=Fence(run.id, run.sequence, "", RunState.AWAITING_HUMAN),
            steps=(step,) if following is None else (step, following),
            moves=tuple(moves),
            fields=fields,
        )
    )


def _why(verdict: Verdict) -> str:
    is_fork = verdict.kind is V.FORK
    return clean_text(verdict.text) if is_fork else _WORDS[verdict.kind]


_WORDS = {
    V.APPROVE: "approved",
    V.REJECT: "rejected",
    V.GUIDE: "guided",
    V.ANSWER: "answered",
    V.RETRY: "to be tried again",
    V.OUTCOME: "outcome recorded",
    V.TOP_UP: "budget topped up",
    V.SUPPLY: "result supplied by hand",
    V.PLAN: "plan changed",
    V.GO_ON: "went on without an answer",
    V.ABORT: "aborted",
}
