"""The reasons for which a run stops and asks a person, with figures. Pure."""

from __future__ import annotations

from runs import calls, gates
from runs.canonical import Json, shorten
from runs.facts import Facts, subject
from runs.progress import Progress
from runs.states import ParkReason, StepKind, StepStatus
from runs.toolbox import Offered
from runs.tools.base import Asks
from runs.values import Park, ProposedCall, StepValue


def failed(facts: Facts, progress: Progress) -> Park | None:
    """The last step failed in a way that no model can answer for."""
    last = progress.last
    if last is None or last.kind is StepKind.DECISION:
        return None
    if last.status is StepStatus.SKIPPED and last.error_class == "changed":
        return _changed(facts, progress, last)
    reason = _PARK_OF.get(last.error_class)
    return _error(facts, progress, last, reason) if reason else None


_PARK_OF = {
    "transient": ParkReason.RETRIES,
    "fatal": ParkReason.FATAL,
    "refused": ParkReason.REFUSED,
    "outcome_unknown": ParkReason.OUTCOME_UNKNOWN,
    "context": ParkReason.CONTEXT,
}


def _error(
    facts: Facts, progress: Progress, last: StepValue, reason: ParkReason
) -> Park:
    call = calls.of_step(facts, last)
    what = (call.title if call else "") or subject(facts.task)
    question = f"{_ERROR_WORDS[reason]}: {last.error_text}"
    if reason is ParkReason.OUTCOME_UNKNOWN:
        what = f"Did this happen? {what}"
    return Park(
        reason=reason,
        title=what,
        question=question,
        step=last.number,
        call=call,
        figures={"attempts": last.attempts},
        error={"class": last.error_class, "text": last.error_text},
        reasoning=gates.spoken(progress),
        seal=calls.seal(facts, call),
    )


_ERROR_WORDS = {
    ParkReason.RETRIES: "All tries failed",
    ParkReason.FATAL: "It failed",
    ParkReason.REFUSED: "The model declined",
    ParkReason.CONTEXT: "The conversation does not fit the model's window",
    ParkReason.OUTCOME_UNKNOWN: "It was started and no result came back",
}


def _changed(facts: Facts, progress: Progress, last: StepValue) -> Park:
    call = calls.of_step(facts, last)
    return Park(
        reason=ParkReason.CHANGED,
        title=call.title if call else subject(facts.task),
        question=f"It changed before it could run: {last.error_text}",
        step=last.number,
        call=call,
        figures={"changed": (last.response or {}).get("changed", [])},
        reasoning=gates.spoken(progress),
        seal=calls.seal(facts, call),
        terms=calls.terms(facts, call),
    )


def worn_out(facts: Facts, progress: Progress) -> Park | None:
    rules = facts.rules
    if progress.invalid_turns >= rules.max_invalid:
        count = progress.invalid_turns
        return stuck(
            facts,
            progress,
            ParkReason.INVALID_CALLS,
            f"{count} replies in a row could not be carried out.",
            {"invalid_turns": count, "allowed": rules.max_invalid},
        )
    if progress.nudges > rules.max_nudges:
        question = f"The model's reply was empty or cut off, {progress.nudges} times."
        nudged: dict[str, Json] = {"nudges": progress.nudges}
        return stuck(facts, progress, ParkReason.NO_PROGRESS, question, nudged)
    if progress.most_repeats > rules.max_repeats:
        count = progress.most_repeats
        question = f"The same call gave the same result {count} times."
        equal: dict[str, Json] = {"repeats": count, "allowed": rules.max_repeats}
        return stuck(facts, progress, ParkReason.NO_PROGRESS, question, equal)
    return None


def stuck(
    facts: Facts,
    progress: Progress,
    reason: ParkReason,
    question: str,
    figures: dict[str, Json],
) -> Park:
    last = progress.last
    error = None
    if last is not None and last.error_class:
        error = {"class": last.error_class, "text": last.error_text}
    return Park(
        reason=reason,
        title=subject(facts.task),
        question=question,
        step=last.number if last else 0,
        figures=figures,
        error=error,
        reasoning=gates.spoken(progress),
    )


def question(
    facts: Facts, progress: Progress, offered: Offered, call: ProposedCall
) -> Park:
    asks_question = offered.spec.asks is Asks.QUESTION
    words = call.arguments.get("question" if asks_question else "reason", "")
    reason = ParkReason.QUESTION if asks_question else ParkReason.ESCALATION
    return Park(
        reason=reason,
        title=shorten(str(words), 200) or call.title,
        question=shorten(gates.spoken(progress), 300) or _ASKS[asks_question],
        step=progress.last.number if progress.last else 0,
        call=call,
        figures={"options": call.arguments.get("options", [])},
        reasoning=gates.spoken(progress),
        seal=offered.seal(dict(call.arguments)),
    )


_ASKS = {True: "The agent asks.", False: "The agent wants a person to take over."}
