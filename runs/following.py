"""One commit: the result of a step together with whatever comes next."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from typing import Any

from runs import planning, recording, records
from runs.canonical import shorten
from runs.facts import Action, Finish, NewStep
from runs.held import Held, settled
from runs.records import Delta, Move, Record, Result, Settled
from runs.states import RunState, StepKind
from runs.values import Park
from runs.work import Rest, Work
from runs.working import work_for

logger = logging.getLogger(__name__)


def go_on(
    held: Held, result: Result | None, now: datetime, delta: Delta | None = None
) -> Work | Rest:
    """Commit the result together with whatever comes next."""
    action: Action = planning.next_action(held.facts, held.progress)
    if isinstance(action, Park):
        return park(held, action, result, now, delta or Delta())
    if isinstance(action, Finish):
        return finish(held, action.output, result, now, delta)
    return _plan(held, action, result, now, delta or Delta())


def _plan(
    held: Held, new: NewStep, result: Result | None, now: datetime, delta: Delta
) -> Work:
    planned = records.planned(new, held.facts.sequence + 1, now)
    fields = _plan_fields(held)
    if held.run.started_at is None:
        held.run.started_at = fields["started_at"] = now
    recording.commit(
        Record(
            fence=held.fence,
            result=result,
            steps=(planned,),
            delta=delta,
            moves=_moves(held, (new.state, _why(held, new)), now),
            fields=fields,
            effect=_settled(held, result),
        )
    )
    held.facts = replace(held.facts, state=new.state, sequence=planned.number)
    held.current = planned.as_value()
    return work_for(held, held.current)


def park(
    held: Held, why: Park, result: Result | None, now: datetime, delta: Delta
) -> Rest:
    if not held.facts.config.has_reviewer:
        fields = {"error": why.question, "finished_at": now}
        _stop(held, RunState.ERROR, why.question, fields, result, now, delta)
        logger.warning("ended as an error: %s", why.reason.value)
        return Rest()
    fields = records.parked(why, now) | _plan_fields(held)
    words = f"{why.reason.label}: {why.question}"
    _stop(held, RunState.AWAITING_HUMAN, words, fields, result, now, delta)
    logger.info("parked: %s", why.reason.value)
    return Rest()


def _stop(
    held: Held,
    state: RunState,
    why: str,
    fields: dict[str, Any],
    result: Result | None,
    now: datetime,
    delta: Delta,
) -> None:
    recording.commit(
        Record(
            fence=held.fence,
            result=result,
            delta=delta,
            moves=_moves(held, (state, why), now),
            fields=fields | records.RELEASED,
            effect=_settled(held, result),
        )
    )


def finish(
    held: Held,
    output: str,
    result: Result | None,
    now: datetime,
    delta: Delta | None = None,
) -> Rest:
    """The checked answer is stored, and delivered: by being there to be read."""
    steps = [(RunState.COMPLETING, "final answer"), (RunState.COMPLETED, "delivered")]
    if held.facts.state is RunState.COMPLETING:
        steps = steps[1:]
    left = held.progress.open_items()
    plan = [
        {**item, "status": "done"}
        if item["status"] == "open" and place not in left
        else item
        for place, item in enumerate(held.progress.plan, start=1)
    ]
    fields = {"output": output, "finished_at": now, "plan": plan} | records.RELEASED
    recording.commit(
        Record(
            fence=held.fence,
            result=result,
            delta=delta or Delta(),
            moves=_moves(held, *steps, now),
            fields=fields,
            effect=_settled(held, result),
        )
    )
    logger.info("completed after %d steps", held.facts.used.steps)
    return Rest()


def _moves(held: Held, *steps: Any) -> tuple[Move, ...]:
    """The changes of state, in order; `steps` are (state, why), then the time."""
    *wanted, now = steps
    moves, state = [], held.facts.state
    for new, why in wanted:
        if new is not state:
            moves.append(Move(state, new, why, held.actor, now))
        state = new
    return tuple(moves)


def _why(held: Held, new: NewStep) -> str:
    last = held.progress.last
    if last is None:
        return "claimed"
    if last.kind is StepKind.TOOL:
        said = last.error_text or "done"
        return f"{last.name}: {shorten(said, 200)}"
    return {
        StepKind.TOOL: f"the model calls {new.name}",
        StepKind.CHECK: f"check before {new.name}",
    }.get(new.kind, "plan written" if last.kind is StepKind.PLAN else "goes on")


def _plan_fields(held: Held) -> dict[str, Any]:
    """The run's plan, where it is not what the row says."""
    plan = held.progress.plan_now()
    if plan == held.run.plan:
        return {}
    held.run.plan = plan
    return {"plan": plan, "plan_revision": held.progress.plan_revision}


def _settled(held: Held, result: Result | None) -> Settled | None:
    """How the ledger's row of the call that has just been made is to read."""
    last = held.progress.last
    if result is None or last is None or last.number != result.number:
        return None
    return settled(last, result)
