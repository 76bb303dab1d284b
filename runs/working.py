"""From a planned step to the work an I/O thread does for it. Reads no tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentops.conf import product
from runs import conversation, history, planning
from runs.canonical import dumps
from runs.conversation import Message
from runs.errors import Fatal, InvalidCall
from runs.held import Held
from runs.llm.base import Request
from runs.states import StepKind
from runs.toolbox import Offered
from runs.tools.base import Context, Deadline, Effect
from runs.values import StepValue
from runs.work import AskModel, CallTool, Give, Raise, Reconcile, Work


def work_for(held: Held, step: StepValue) -> Work:
    """The act of a planned step; the prompt is not copied, so nobody may change it."""
    request = step.request or {}
    if step.kind is StepKind.TOOL:
        return _tool_work(held, step, request)
    if step.kind is StepKind.COMPACTION:
        return _work(held, step, Give({}), 1.0)
    messages, encoded = _MESSAGES[step.kind](held, request)
    asked = Request(
        model=request["model"],
        messages=messages,
        encoded=encoded,
        max_output_tokens=request["max_output_tokens"],
        deadline_s=product().model_deadline_s,
        tools=held.opened.tools if step.kind is StepKind.MODEL else (),
        schema=history.schema_of(step.kind),
    )
    return _work(held, step, AskModel(asked), asked.deadline_s)


Prompt = tuple[list[Message], list[str]]
"""Messages, and each as JSON where that is known already."""


def _plan_messages(held: Held, request: dict[str, Any]) -> Prompt:
    asked = conversation.user(conversation.PLAN_INSTRUCTION)
    progress = held.progress
    return [*progress.messages, asked], [*progress.encoded, dumps(asked)]


def _model_messages(held: Held, request: dict[str, Any]) -> Prompt:
    return held.progress.messages, held.progress.encoded


def _check_messages(held: Held, request: dict[str, Any]) -> Prompt:
    facts = held.facts
    config, task = facts.config, facts.task
    return planning.check_messages(config, task, request, held.progress), []


_MESSAGES: dict[StepKind, Callable[[Held, dict[str, Any]], Prompt]] = {
    StepKind.PLAN: _plan_messages,
    StepKind.MODEL: _model_messages,
    StepKind.CHECK: _check_messages,
}


def _tool_work(held: Held, step: StepValue, request: dict[str, Any]) -> Work:
    if "feedback" in request:
        return _work(held, step, Raise(InvalidCall(request["feedback"])), 1.0)
    if "fault" in request:
        return _work(held, step, Raise(Fatal(request["fault"])), 1.0)
    offered = held.facts.toolbox.tools.get(step.name)
    if offered is None:
        gone = Fatal(f"The tool {step.name} is no longer installed.")
        return _work(held, step, Raise(gone), 1.0)
    is_act = request["effect"] == Effect.IRREVERSIBLE
    act = CallTool(
        offered.spec,
        request["arguments"],
        _context(held, step, request, offered),
        offered.timeout_s,
        is_act,
    )
    return _work(held, step, act, offered.timeout_s, is_irreversible=is_act)


def work_to_reconcile(held: Held, step: StepValue) -> Work | None:
    """Ask the tool whether its started call took effect; None if it cannot tell."""
    request = step.request or {}
    offered = held.facts.toolbox.tools.get(step.name)
    if offered is None or offered.spec.reconcile is None:
        return None
    act = Reconcile(
        offered.spec,
        request["arguments"],
        _context(held, step, request, offered),
        offered.timeout_s,
    )
    return _work(held, step, act, offered.timeout_s)


def _context(
    held: Held, step: StepValue, request: dict[str, Any], offered: Offered
) -> Callable[[Deadline], Context]:
    run_id, attempt = str(held.run_id), step.attempts + 1

    def context(deadline: Deadline) -> Context:
        return Context(
            run_id=run_id,
            step=step.number,
            key=request["key"],
            deadline=deadline,
            attempt=attempt,
            settings=offered.settings,
        )

    return context


def _work(
    held: Held,
    step: StepValue,
    act: Callable[[], Any],
    deadline_s: float,
    *,
    is_irreversible: bool = False,
) -> Work:
    return Work(
        run_id=held.run_id,
        step=step.number,
        attempt=step.attempts + 1,
        act=act,
        deadline_s=deadline_s,
        is_droppable=not is_irreversible,
        is_irreversible=is_irreversible,
    )
