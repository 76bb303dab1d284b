"""What a person's decision does to the conversation and the counters. Pure.

One function a verdict; each is given the decision's step, what it stored, and the
id of the call that waited, if one did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs import conversation, plans
from runs.canonical import dumps
from runs.tools.base import IRREVERSIBLE
from runs.turns import Approval, Turns
from runs.values import StepValue, VerdictKind

LOOKS_AWAY = frozenset({VerdictKind.TOP_UP, VerdictKind.RETRY, VerdictKind.GO_ON})
"""Decisions about a failure, a limit or a silence, not about what the agent has read."""


def take(turns: Turns, step: StepValue) -> None:
    """Bring in a finished step of kind decision."""
    turns.start_counters_again()
    response: dict[str, Any] = step.response
    kind = VerdictKind(response["kind"])
    turns.untrusted = turns.untrusted and kind in LOOKS_AWAY
    _DECIDE[kind](turns, step, response, _request(step).get("call_id"))


def _approved(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    if response.get("note"):
        turns.notes.append(conversation.from_person(response["note"]))
    if call_id is None:
        turns.final_accepted = turns.final is not None
        return
    turns.approval = Approval(
        call_id, response.get("arguments"), response.get("seal") or {}
    )


def _rejected(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    reason = response["text"]
    if call_id is None:
        turns.say(f"Not accepted. {reason}", step.number)
        return
    turns.answer(
        call_id,
        f"A person rejected this call. It was not carried out. Reason: {reason}",
        step.number,
    )


def _guided(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    turns.notes.append(conversation.from_person(response["text"]))
    _put_off(turns, step, "a person gave guidance instead")


def _answered(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    if call_id is None:
        turns.say(response["text"], step.number)
    else:
        turns.answer(call_id, f"A person answers: {response['text']}", step.number)


def _outcome(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    if call_id is None:
        return
    if not response.get("happened"):
        turns.denied = call_id
        return
    call = next(call for call in turns.pending if call.id == call_id)
    turns.count_act(call.name, _request(step).get("arguments"))
    result = response.get("result")
    said = result if isinstance(result, str) else dumps(result)
    turns.answer(
        call_id, f"A person confirms that this took effect. {said}", step.number
    )


def _supplied(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    call = next(call for call in turns.pending if call.id == call_id)
    request = _request(step)
    if request.get("effect") == IRREVERSIBLE:
        turns.count_act(call.name, request["arguments"])
    result = response.get("result")
    said = result if isinstance(result, str) else dumps(result)
    text = f"A person did this by hand, and it is done. What came of it: {said}"
    turns.recent = [*turns.recent[-4:], (call.name, text)]
    turns.turn_succeeded = True
    turns.answer(call.id, text, step.number)


def _replanned(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    plan = response["plan"]
    turns.set_plan(plan)
    turns.plan_item = len(plans.finished(plan))
    turns.notes.append(conversation.changed_plan(plan, response.get("text", "")))
    _put_off(turns, step, "a person changed the plan")


def _put_off(turns: Turns, step: StepValue, why: str) -> None:
    """Nothing that waits is carried out; the notes say what to do instead."""
    waiting = list(turns.pending)
    for call in waiting:
        text = f"Not carried out: {why}, see their message."
        turns.answer(call.id, text, step.number)
    if not waiting:
        turns.final = None
        turns.close_turn(step.number)


def _again(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    turns.check = None


def _unanswered(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    said = "Nobody answered in time, so this was not carried out."
    more = response.get("text")
    added = f" A person adds: {more}" if more else ""
    if call_id is not None:
        turns.answer(call_id, f"{said}{added}", step.number)


def _go_on(
    turns: Turns, step: StepValue, response: dict[str, Any], call_id: str | None
) -> None:
    """Top up and abort leave no word in the conversation."""


def _request(step: StepValue) -> dict[str, Any]:
    return step.request if isinstance(step.request, dict) else {}


_Takes = Callable[[Turns, StepValue, dict[str, Any], str | None], None]
_DECIDE: dict[VerdictKind, _Takes] = {
    VerdictKind.APPROVE: _approved,
    VerdictKind.REJECT: _rejected,
    VerdictKind.GUIDE: _guided,
    VerdictKind.ANSWER: _answered,
    VerdictKind.OUTCOME: _outcome,
    VerdictKind.RETRY: _again,
    VerdictKind.TOP_UP: _go_on,
    VerdictKind.SUPPLY: _supplied,
    VerdictKind.PLAN: _replanned,
    VerdictKind.GO_ON: _unanswered,
    VerdictKind.FORK: _go_on,
    VerdictKind.ABORT: _go_on,
}
