"""A person's decision as the run takes it: a step of its own, then the next one.

`resume` writes the decision step, plans what follows and moves the run on, in the
caller's transaction, where the review is closed as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock
from runs import budgets, history, planning, points, policy, queue, recording, records
from runs.canonical import Json, clean, clean_object, clean_text, digest
from runs.errors import BadInput, Stale, StepError
from runs.facts import Action, Facts, Finish, NewStep
from runs.models import Effect, Run
from runs.progress import Progress
from runs.records import Fence, Move, Planned, Record
from runs.states import EffectStatus, ParkReason, RunState, StepKind, StepStatus
from runs.toolbox import Offered, propose
from runs.values import Park, ProposedCall, Verdict, VerdictKind

V = VerdictKind
_ABOUT_A_CALL = (V.APPROVE, V.GUIDE, V.REJECT, V.ABORT)
_ALLOWED: dict[ParkReason, tuple[VerdictKind, ...]] = {
    ParkReason.LOW_CONFIDENCE: _ABOUT_A_CALL,
    ParkReason.REVIEW_RULE: _ABOUT_A_CALL,
    ParkReason.ALWAYS_ASK: _ABOUT_A_CALL,
    ParkReason.UNTRUSTED_CONTENT: _ABOUT_A_CALL,
    ParkReason.REPEATED_CALL: _ABOUT_A_CALL,
    ParkReason.CHECK_FAILED: (V.APPROVE, V.GUIDE, V.REJECT, V.RETRY, V.ABORT),
    ParkReason.CHANGED: _ABOUT_A_CALL,
    ParkReason.QUESTION: (V.ANSWER, V.ABORT),
    ParkReason.ESCALATION: (V.GUIDE, V.ABORT),
    ParkReason.ANSWER: _ABOUT_A_CALL,
    ParkReason.OPEN_PLAN: _ABOUT_A_CALL,
    ParkReason.BUDGET: (V.TOP_UP, V.ABORT),
    ParkReason.INVALID_CALLS: (V.GUIDE, V.RETRY, V.ABORT),
    ParkReason.NO_PROGRESS: (V.GUIDE, V.RETRY, V.ABORT),
    ParkReason.RETRIES: (V.RETRY, V.GUIDE, V.ABORT),
    ParkReason.FATAL: (V.RETRY, V.GUIDE, V.ABORT),
    ParkReason.REFUSED: (V.RETRY, V.GUIDE, V.ABORT),
    ParkReason.CONTEXT: (V.RETRY, V.ABORT),
    ParkReason.OUTCOME_UNKNOWN: (V.OUTCOME, V.ABORT),
    ParkReason.POISON: (V.RETRY, V.ABORT),
}


def allowed_verdicts(park: Mapping[str, Any]) -> tuple[VerdictKind, ...]:
    """Which decisions fit what a run waits for (`Run.park`)."""
    return _ALLOWED[ParkReason(park["reason"])]


def edited(run_id: UUID, arguments: Mapping[str, Json]) -> ProposedCall:
    """The parked call with other arguments, validated and sealed. Reads only.

    Raises `BadInput` with a field per wrong argument, `Stale` if no call is parked.
    """
    run = Run.objects.select_related("version").get(id=run_id)
    return _edited(run, _facts(run), arguments)


class Changed(Stale):
    """What was shown is not what would run; `parts` names what differs."""

    def __init__(self, parts: Sequence[str]) -> None:
        super().__init__(f"Changed since this was shown: {', '.join(parts)}.")
        self.parts = tuple(parts)


def reseal(run_id: UUID, *, sequence: int) -> dict[str, str]:
    """Seal the call that a run waits with anew, as policy and schema are now.

    In the caller's transaction; returns the seal. Raises `Stale` if the run does not
    wait at that sequence, or if its tool may not be used any more.
    """
    run = Run.objects.select_related("version").get(id=run_id)
    park: dict[str, Any] = run.park or {}
    offered = _usable(_facts(run), park["call"]["tool"]) if park.get("call") else None
    if offered is None:
        raise Stale("The run does not wait with a call.")
    seal = offered.seal(park["call"]["arguments"])
    waiting = Run.objects.filter(
        id=run_id, state=RunState.AWAITING_HUMAN.value, sequence=sequence
    )
    if not waiting.update(park=park | {"seal": seal}):
        raise Stale("The run does not wait for this decision any more.")
    return seal


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

    Needs a transaction of the caller's; wakes a driver in it. Raises `Stale` if the
    run does not wait at that sequence or what was shown has changed since, and
    `BadInput` if the verdict does not fit.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("resume needs the caller's transaction")
    run = Run.objects.select_related("version").get(id=run_id)
    if run.state != RunState.AWAITING_HUMAN or run.sequence != sequence:
        raise Stale("The run does not wait for this decision any more.")
    now = clock.now()
    park: dict[str, Any] = run.park or {}
    facts = _facts(run)
    _check_fits(run, facts, park, verdict)
    limits = _topped_up(run, verdict)
    step = _decision(run, park, verdict, by, now)
    facts = replace(facts, limits=limits, sequence=step.number)
    _settle_effect(park, verdict, now)
    if verdict.kind is V.ABORT:
        _write(run, step, by, verdict, now, (RunState.ABORTED,), _aborted(run, now))
        return
    action = _next(run, facts, step)
    _refuse_short_top_up(verdict, action)
    _go_on(run, facts, step, action, verdict, by, now, wake_at or now)
    queue.wake()
    points.reach("inside resume")


def _facts(run: Run) -> Facts:
    return history.facts(run, history.opening(run), policy.live())


def _next(run: Run, facts: Facts, step: Planned) -> Action:
    steps = [*history.steps(run), step.as_value()]
    progress = Progress.of(history.opening(run).messages, steps)
    return planning.next_action(facts, progress)


# ---- does it fit?


def _check_fits(
    run: Run, facts: Facts, park: Mapping[str, Any], verdict: Verdict
) -> None:
    if verdict.kind not in allowed_verdicts(park):
        label = ParkReason(park["reason"]).label.lower()
        raise BadInput({"": f"{verdict.kind.value} does not fit here ({label})."})
    needs_words = {V.REJECT, V.GUIDE, V.ANSWER, V.ABORT}
    if verdict.kind in needs_words and not verdict.text.strip():
        raise BadInput({"text": "Please say something here."})
    if verdict.kind is V.OUTCOME and verdict.happened is None:
        raise BadInput({"happened": "Did it happen, or did it not?"})
    if verdict.kind is V.APPROVE and park.get("call"):
        _check_seal(facts, park, verdict)
        given = verdict.arguments
        _edited(run, facts, park["call"]["arguments"] if given is None else given)


def _check_seal(facts: Facts, park: Mapping[str, Any], verdict: Verdict) -> None:
    """What was shown has to be what will run; raises `Stale` naming what changed."""
    call = park["call"]
    now = _usable(facts, call["tool"]).seal(call["arguments"])
    changed = [name for name, was in park["seal"].items() if now.get(name) != was]
    if changed:
        raise Changed(sorted(changed))


def _usable(facts: Facts, tool: str) -> Offered:
    offered = facts.toolbox.tools.get(tool)
    if offered is None or tool not in facts.toolbox.allowed:
        raise Stale(f"{tool} may not be used any more.")
    return offered


def _edited(run: Run, facts: Facts, arguments: Mapping[str, Json]) -> ProposedCall:
    call = (run.park or {}).get("call")
    offered = facts.toolbox.tools.get(call["tool"]) if call else None
    if call is None or offered is None:
        raise Stale("There is no call to edit any more.")
    try:
        return _proposed(run, offered, call["id"], arguments)
    except StepError as error:
        raise BadInput({"": error.message}) from None


def _proposed(
    run: Run, offered: Offered, call_id: str, arguments: Mapping[str, Json]
) -> ProposedCall:
    """Raises `BadInput` for what is wrong by field, and what the tool raises."""
    checked = _validated(offered, arguments)
    before = Effect.objects.filter(
        root=run.root_id or run.id,
        tool=offered.spec.name,
        arguments_digest=digest(checked),
        status__in=[EffectStatus.DONE.value, EffectStatus.UNKNOWN.value],
    ).count()
    return propose(
        offered,
        call_id=call_id,
        arguments=checked,
        root_key=run.root_key,
        occurrence=before + 1,
    )


def _validated(offered: Offered, arguments: Mapping[str, Json]) -> dict[str, Json]:
    wrong = offered.spec.problems(arguments)
    if wrong:
        raise BadInput({f"arguments.{name}": text for name, text in wrong.items()})
    checked = offered.spec.validate(arguments)
    offered.spec.vet(checked, offered.settings)
    return checked


def _topped_up(run: Run, verdict: Verdict) -> dict[str, Json]:
    if verdict.kind is not V.TOP_UP:
        return dict(run.limits)
    return budgets.read_limits(verdict.limits, run.limits)


def _refuse_short_top_up(verdict: Verdict, action: Action) -> None:
    if verdict.kind is not V.TOP_UP or not isinstance(action, Park):
        return
    if action.reason is ParkReason.BUDGET:
        kind = action.figures.get("budget", "")
        raise BadInput({f"limits.{kind}": f"Not enough yet. {action.question}"})


# ---- writing it


def _decision(
    run: Run, park: Mapping[str, Any], verdict: Verdict, by: User, now: datetime
) -> Planned:
    call = park.get("call") or {}
    return Planned(
        number=run.sequence + 1,
        kind=StepKind.DECISION,
        state=RunState.AWAITING_HUMAN,
        name=verdict.kind.value,
        request={
            "call_id": call.get("id"),
            "arguments": call.get("arguments"),
            "reason": park["reason"],
            "actor": by.get_username(),
        },
        response={
            "kind": verdict.kind.value,
            "text": clean_text(verdict.text),
            "note": clean_text(verdict.note),
            "arguments": _cleaned(verdict.arguments),
            "happened": verdict.happened,
            "result": clean(verdict.result),
            "limits": clean_object(verdict.limits),
            "seal": park.get("seal") or {},
        },
        planned_at=now,
        status=StepStatus.SUCCEEDED,
    )


def _cleaned(arguments: Mapping[str, Json] | None) -> dict[str, Json] | None:
    return None if arguments is None else clean_object(arguments)


def _settle_effect(park: Mapping[str, Any], verdict: Verdict, now: datetime) -> None:
    """What a person says of an unknown outcome goes into the ledger."""
    if verdict.kind is not V.OUTCOME or not park.get("call"):
        return
    status = EffectStatus.DONE if verdict.happened else EffectStatus.NOT_DONE
    settled = Effect.objects.filter(
        key=park["call"]["key"],
        status__in=[EffectStatus.UNKNOWN.value, EffectStatus.STARTED.value],
    )
    settled.update(status=status.value, result=clean(verdict.result), finished_at=now)


def _go_on(
    run: Run,
    facts: Facts,
    step: Planned,
    action: Action,
    verdict: Verdict,
    by: User,
    now: datetime,
    wake_at: datetime,
) -> None:
    fields = records.unparked(run, now) | {"wake_at": wake_at}
    if verdict.kind is V.TOP_UP:
        fields["limits"] = facts.limits
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
        why = _WORDS[verdict.kind] if old is RunState.AWAITING_HUMAN else "asks again"
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


_WORDS = {
    V.APPROVE: "approved",
    V.REJECT: "rejected",
    V.GUIDE: "guided",
    V.ANSWER: "answered",
    V.RETRY: "to be tried again",
    V.OUTCOME: "outcome recorded",
    V.TOP_UP: "budget topped up",
    V.ABORT: "aborted",
}
