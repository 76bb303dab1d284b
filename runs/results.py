"""From what an act came to, to what the step records. Pure.

One function per kind of step; each gives the status, the response as stored, and
the usage. Notes to the model (nudges, warnings, notices) are decided here, once,
and stored with the step that caused them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runs import budgets, confidence, conversation, pricing
from runs.canonical import Json, clean_text, dumps, loads, shorten, size
from runs.errors import InvalidCall, OutcomeUnknown, Refused, StepError
from runs.facts import Facts
from runs.llm.base import RawCall, Reply, Usage
from runs.progress import Progress, repeat_key
from runs.states import StepKind, StepStatus
from runs.tools import results
from runs.tools.base import Reconciled, Reconciliation
from runs.values import StepValue

MOST_TOKENS = 1_000_000_000
"""Of one call; what an endpoint counts beyond that is not believed."""
ANNOUNCES_CALLS = frozenset({"tool_calls", "function_call"})


@dataclass(frozen=True)
class Recorded:
    """What a step came to. `usage` is None for acts that cost nothing."""

    status: StepStatus
    response: dict[str, Json] = field(default_factory=dict)
    error_class: str = ""
    error_text: str = ""
    confidence: Decimal | None = None
    usage: Usage | None = None
    cost: Decimal = Decimal(0)
    is_estimated: bool = False


def of(
    step: StepValue,
    value: Any,
    error: StepError | None,
    facts: Facts,
    progress: Progress,
    kept_bytes: int,
) -> Recorded:
    """What this step records; `kept_bytes` bounds a result kept for people."""
    if error is not None:
        return _failed(step, error, progress, facts)
    if isinstance(value, Reply):
        return _charged(
            step, _MODEL[step.kind](step, value, facts, progress), value, facts
        )
    if step.kind is StepKind.TOOL:
        return _tool(step, value, facts, progress, kept_bytes)
    return Recorded(StepStatus.SUCCEEDED, value if isinstance(value, dict) else {})


# ---- failures


def _failed(
    step: StepValue, error: StepError, progress: Progress, facts: Facts
) -> Recorded:
    failed = Recorded(
        StepStatus.FAILED,
        {},
        error.known_class,
        shorten(clean_text(error.message), 2000),
    )
    if _is_billed(step, error):
        failed = _lost(step, failed, facts)
    if step.kind is StepKind.CHECK:
        return replace(failed, error_class="check", response={"problem": error.message})
    if step.kind is not StepKind.TOOL:
        return failed
    if isinstance(error, OutcomeUnknown):
        return replace(failed, status=StepStatus.OUTCOME_UNKNOWN)
    if isinstance(error, InvalidCall):
        response = _told(step, failed.error_text, facts)
        return replace(failed, response=_warned(step, response, progress, facts))
    return failed


def _told(step: StepValue, text: str, facts: Facts) -> dict[str, Json]:
    """What the model reads instead of a result: our words about a call that was not
    made, else the tool's, which may quote what it met outside."""
    response: dict[str, Json] = {"result": None, "is_error": True}
    offered = facts.toolbox.tools.get(step.name)
    if "feedback" in (step.request or {}) or not offered or not offered.untrusted:
        return response | {"text": f"Error: {text}"}
    quoted = results.for_model(
        text, offered.result_limit, untrusted=True, source=step.name
    )
    return response | {"text": f"Error: {quoted}", "untrusted": True}


def _is_billed(step: StepValue, error: StepError) -> bool:
    """May the model have answered all the same? A refusal is an answer, too."""
    if step.kind is StepKind.TOOL:
        return False
    return isinstance(error, Refused) or getattr(error, "maybe_billed", False)


def _lost(step: StepValue, failed: Recorded, facts: Facts) -> Recorded:
    """A try that may have to be paid for keeps its reservation as spent."""
    output = int((step.request or {}).get("max_output_tokens") or 0)
    usage = Usage(max(0, step.reserved_tokens - output), output)
    return replace(failed, usage=usage, cost=step.reserved_cost, is_estimated=True)


# ---- replies


def _charged(
    step: StepValue, recorded: Recorded, reply: Reply, facts: Facts
) -> Recorded:
    """With usage and cost; estimated upwards where the endpoint gave none."""
    usage, estimated = reply.usage, False
    if usage is None or max(usage.input, usage.output) > MOST_TOKENS:
        given = int((step.request or {}).get("max_output_tokens") or 0)
        said = budgets.tokens_of(
            size(reply.content) + sum(_size(c) for c in reply.calls)
        )
        usage, estimated = Usage(max(0, step.reserved_tokens - given), said), True
    price = facts.toolbox.prices.get((step.request or {}).get("model", ""))
    cost = pricing.stored(pricing.cost(usage, price)) if price else Decimal(0)
    return replace(recorded, usage=usage, cost=cost, is_estimated=estimated)


def _size(call: RawCall) -> int:
    return size(call.name) + size(str(call.arguments))


def _said(reply: Reply) -> dict[str, Json]:
    said: dict[str, Json] = {
        "content": reply.content,
        "reasoning": reply.reasoning,
        "finish_reason": reply.finish_reason,
        "model": reply.model,
    }
    return said | ({"echo": dict(reply.echo)} if reply.echo else {})


class _PlanItem(BaseModel):
    model_config = ConfigDict(extra="ignore")
    text: str = Field(min_length=1, max_length=500)


class _Plan(BaseModel):
    model_config = ConfigDict(extra="ignore")
    items: list[_PlanItem] = Field(min_length=1, max_length=20)


def _plan(step: StepValue, reply: Reply, facts: Facts, progress: Progress) -> Recorded:
    said = _said(reply)
    try:
        plan = _Plan.model_validate(loads(confidence.unfenced(reply.content)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return _no_plan(said, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except ValueError as error:
        return _no_plan(said, str(error))
    items = [{"text": i.text, "status": "open", "reason": ""} for i in plan.items]
    return Recorded(StepStatus.SUCCEEDED, said | {"items": items})


def _no_plan(said: dict[str, Json], why: str) -> Recorded:
    problem = f"That was not a plan ({shorten(clean_text(why), 300)})."
    response = said | {"problem": problem}
    return Recorded(StepStatus.FAILED, response, "invalid", problem)


def _model(step: StepValue, reply: Reply, facts: Facts, progress: Progress) -> Recorded:
    kept = [call for call in reply.calls if call.id or not call.problem]
    ids = conversation.call_ids(
        [(call.id, not call.problem) for call in kept], progress.ids, step.number
    )
    response = _said(reply) | {
        "calls": [
            {"id": id_, "name": c.name, "arguments": c.arguments, "problem": c.problem}
            for id_, c in zip(ids, kept, strict=True)
        ]
    }
    note = conversation.left_out(
        len(reply.calls) - len(kept) + reply.ignored, reply.surplus
    )
    if note:
        response["note"] = note
    if not kept:
        response |= _nudge(reply, progress)
    return Recorded(StepStatus.SUCCEEDED, response)


def _nudge(reply: Reply, progress: Progress) -> dict[str, Json]:
    """What to say to a reply that ends nothing and calls nothing."""
    if reply.finish_reason == "length":
        return {"nudge": "empty", "note": conversation.CUT_REPLY}
    if not reply.content.strip():
        return {"nudge": "empty", "note": conversation.EMPTY_REPLY}
    if reply.finish_reason in ANNOUNCES_CALLS:
        return {"nudge": "empty", "note": conversation.NO_CALL}
    left = progress.open_items()
    if left and not progress.plan_nudges:
        return {"nudge": "plan", "note": conversation.open_items(left)}
    return {}


def _check(step: StepValue, reply: Reply, facts: Facts, progress: Progress) -> Recorded:
    said = {"content": reply.content, "model": reply.model}
    try:
        if reply.finish_reason == "length":
            raise InvalidCall("The check's answer was cut off at the output limit.")
        read = confidence.read(reply.content, len(facts.config.review_when))
    except InvalidCall as error:
        response = said | {"problem": error.message}
        return Recorded(StepStatus.FAILED, response, "check", error.message)
    return Recorded(
        StepStatus.SUCCEEDED,
        said | read,
        confidence=Decimal(str(read["confidence"])).quantize(Decimal("0.0001")),
    )


_MODEL: dict[StepKind, Callable[[StepValue, Reply, Facts, Progress], Recorded]] = {
    StepKind.PLAN: _plan,
    StepKind.MODEL: _model,
    StepKind.CHECK: _check,
}


# ---- tools


def _tool(
    step: StepValue, value: Any, facts: Facts, progress: Progress, kept_bytes: int
) -> Recorded:
    if isinstance(value, Reconciliation):
        return _reconciled(step, value, facts, progress, kept_bytes)
    offered = facts.toolbox.tools.get(step.name)
    limit = offered.result_limit if offered else kept_bytes
    untrusted = offered.untrusted if offered else True
    text = results.for_model(value, limit, untrusted=untrusted, source=step.name)
    request = step.request or {}
    if request.get("edited"):
        text = conversation.edited_notice(request["arguments"]) + text
    response: dict[str, Json] = {
        "result": _kept(value, kept_bytes),
        "text": text,
        "is_error": False,
        "untrusted": untrusted,
    }
    return Recorded(StepStatus.SUCCEEDED, _warned(step, response, progress, facts))


def _kept(value: Json, kept_bytes: int) -> Json:
    """The whole result for people, or as much text of it as is kept."""
    whole = value if isinstance(value, str) else dumps(value)
    if len(whole.encode()) <= kept_bytes:
        return value
    return results.for_people(value, kept_bytes)


def _reconciled(
    step: StepValue,
    found: Reconciliation,
    facts: Facts,
    progress: Progress,
    kept_bytes: int,
) -> Recorded:
    if found.outcome is Reconciled.HAPPENED:
        return _tool(step, found.result, facts, progress, kept_bytes)
    text = found.evidence or "Nobody can tell whether it took effect."
    return Recorded(
        StepStatus.OUTCOME_UNKNOWN, {}, OutcomeUnknown.error_class, clean_text(text)
    )


def _warned(
    step: StepValue, response: dict[str, Json], progress: Progress, facts: Facts
) -> dict[str, Json]:
    """With a warning when the same call has now had the same result too often."""
    arguments = (step.request or {}).get("arguments")
    same = repeat_key(step.name, arguments, response["text"])
    if same in progress.turn_said:
        return response
    if progress.repeats.get(same, 0) + 1 == facts.rules.max_repeats:
        return response | {"note": conversation.SAME_AGAIN}
    return response
