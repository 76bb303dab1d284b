"""What an act must pass before it runs: policy, trust, repetition, the check. Pure.

`gate` answers for one validated call: let it through, check it first, or ask a
person. A person's approval of exactly this call opens every gate, for as long as
what they were shown still holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import Any

from runs.canonical import shorten
from runs.progress import Approval, Progress
from runs.states import ParkReason, StepStatus
from runs.toolbox import Offered
from runs.tools.base import Effect
from runs.values import Park, Policy, ProposedCall, StepValue

MAX_SPOKEN = 20_000


class Gate(Enum):
    OPEN = "open"
    CHECK = "check"


def gate(
    offered: Offered,
    call: ProposedCall,
    progress: Progress,
    *,
    rules: Sequence[str],
    step: int,
    was_restored: bool = False,
) -> Gate | Park:
    """What is next for this call; `rules` are the agent's review-when rules.

    `was_restored`: the run was under way when a backup was taken and restored since.
    """
    approval = progress.approval
    if approval is not None and approval.call_id == call.id:
        changed = _changed_since(approval, offered.seal(dict(call.arguments)))
        return _changed(changed, offered, call, progress, step) or Gate.OPEN
    asked = _asks_always(offered, call, progress, was_restored)
    if asked is not None:
        reason, question = asked
        return _park(reason, question, offered, call, progress, step)
    if call.effect != Effect.IRREVERSIBLE or offered.policy is Policy.AUTO:
        return Gate.OPEN
    if progress.check is None or not is_of(progress.check, call):
        return Gate.CHECK
    return _judged(offered, call, progress, progress.check, rules)


def _changed_since(approval: Approval, seal: Mapping[str, str]) -> list[str]:
    """What is no longer as the person saw it; edited arguments are their own."""
    was = dict(approval.seal)
    if approval.arguments is not None:
        was.pop("arguments", None)
    return sorted(name for name, proof in was.items() if seal.get(name) != proof)


def _changed(
    parts: list[str],
    offered: Offered,
    call: ProposedCall,
    progress: Progress,
    step: int,
) -> Park | None:
    if not parts:
        return None
    question = f"It changed after it was approved: {', '.join(parts)}."
    park = _park(ParkReason.CHANGED, question, offered, call, progress, step)
    return replace(park, figures={"changed": parts})


def is_of(check: StepValue, call: ProposedCall) -> bool:
    """Is this the check of exactly this call, arguments included?"""
    request = check.request or {}
    return request.get("call_id") == call.id and request.get("digest") == call.digest


def _asks_always(
    offered: Offered, call: ProposedCall, progress: Progress, was_restored: bool
) -> tuple[ParkReason, str] | None:
    name = offered.spec.title
    if offered.policy is Policy.ALWAYS:
        return ParkReason.ALWAYS_ASK, f"{name} always asks a person."
    if call.effect != Effect.IRREVERSIBLE:
        return None
    if was_restored and call.id != progress.denied:
        return (
            ParkReason.RESTORED,
            "A backup was restored. Has this happened since it was taken?",
        )
    if call.occurrence > 1:
        return (
            ParkReason.REPEATED_CALL,
            "The same call has been carried out before. Should it happen again?",
        )
    if progress.untrusted:
        return (
            ParkReason.UNTRUSTED_CONTENT,
            f"The agent has read untrusted content. {name} asks after that.",
        )
    return None


def _judged(
    offered: Offered,
    call: ProposedCall,
    progress: Progress,
    check: StepValue,
    rules: Sequence[str],
) -> Gate | Park:
    said: dict[str, Any] = check.response or {}
    if check.status is not StepStatus.SUCCEEDED or "problem" in said:
        question = f"The check before it failed: {said.get('problem', 'no answer')}"
        reason = ParkReason.CHECK_FAILED
        return _park(reason, question, offered, call, progress, check.number)
    verdict = judge(said, offered.threshold, rules)
    if verdict is None:
        return Gate.OPEN
    reason, question = verdict
    return _park(reason, question, offered, call, progress, check.number, said, rules)


@dataclass(frozen=True)
class Judgement:
    """The figures of a check against what was needed."""

    confidence: Decimal
    threshold: Decimal
    applied: list[str]


def weigh(said: dict[str, Any], threshold: Decimal, rules: Sequence[str]) -> Judgement:
    applied = [rules[number - 1] for number in said["rules_that_apply"]]
    return Judgement(Decimal(str(said["confidence"])), threshold, applied)


def judge(
    said: dict[str, Any], threshold: Decimal, rules: Sequence[str]
) -> tuple[ParkReason, str] | None:
    """Why a check's answer parks, with the actual values; None lets through."""
    found = weigh(said, threshold, rules)
    low = found.confidence < found.threshold
    if not low and not found.applied:
        return None
    sentences = []
    if low:
        sentences.append(
            f"The check is {percent(found.confidence)} sure,"
            f" {percent(found.threshold)} is needed."
        )
    if found.applied:
        sentences.append(f"A review rule applies: {'; '.join(found.applied)}.")
    reason = ParkReason.LOW_CONFIDENCE if low else ParkReason.REVIEW_RULE
    return reason, " ".join(sentences)


def check_figures(
    said: dict[str, Any], threshold: Decimal, rules: Sequence[str]
) -> dict[str, Any]:
    """The figures of a check for `Park.figures`."""
    found = weigh(said, threshold, rules)
    return {
        "confidence": str(found.confidence),
        "threshold": str(found.threshold),
        "rules": found.applied,
        "rationale": said["rationale"],
        "reversible": said["reversible"],
        "side_effects": said["side_effects"],
        "will_do": said["will_do"],
    }


def percent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f} %"


def _park(
    reason: ParkReason,
    question: str,
    offered: Offered,
    call: ProposedCall,
    progress: Progress,
    step: int,
    said: dict[str, Any] | None = None,
    rules: Sequence[str] = (),
) -> Park:
    figures: dict[str, Any] = {"policy": offered.policy.value}
    if said is not None:
        figures |= check_figures(said, offered.threshold, rules)
    return Park(
        reason=reason,
        title=call.title,
        question=question,
        step=step,
        call=call,
        figures=figures,
        reasoning=spoken(progress),
        seal=offered.seal(dict(call.arguments)),
        terms=offered.terms,
    )


def spoken(progress: Progress) -> str:
    """What the model said beside its last calls, nothing invented; its beginning, if
    it is very long: the whole is in the step."""
    response = progress.last_model.response if progress.last_model else None
    said = response or {}
    parts = [said.get("reasoning") or "", said.get("content") or ""]
    return shorten("\n\n".join(part for part in parts if part), MAX_SPOKEN)
