"""What a run does next, decided from its history alone. Pure.

`next_action` is the whole policy of a run: the same facts and progress always give
the same action, on any host and after any crash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runs import budgets, calls, canonical, confidence, conversation, gates, parks
from runs.canonical import Json, digest, dumps, shorten
from runs.errors import InvalidCall, StepError
from runs.facts import Action, Facts, Finish, NewStep
from runs.gates import Gate
from runs.progress import UPDATE_PLAN, PendingCall, Progress
from runs.reservations import prompt_tokens, reserve, reserve_plan, worst
from runs.states import ParkReason, RunState, StepKind, StepStatus
from runs.toolbox import Offered
from runs.values import AgentConfig, Park, ProposedCall

ANSWER = "answer"
"""The name of a check on the final answer."""
CHECK_OUTPUT_TOKENS = 1000


def next_action(facts: Facts, progress: Progress) -> Action:
    """The next step, a park, or the end; never both, and never a wait."""
    wanted: Action = (
        _shortened_after_overflow(facts, progress)
        or parks.failed(facts, progress)
        or parks.worn_out(facts, progress)
        or _wanted(facts, progress)
    )
    return _afford(facts, progress, wanted) if isinstance(wanted, NewStep) else wanted


def _wanted(facts: Facts, progress: Progress) -> Action:
    if facts.config.plan_first and not progress.plan:
        return _plan(facts, progress)
    if progress.pending:
        return _call(facts, progress, progress.pending[0])
    if progress.final is not None:
        return _answer(facts, progress, progress.final)
    return _model(facts, progress)


# ---- model calls


def _plan(facts: Facts, progress: Progress) -> NewStep:
    return NewStep(
        StepKind.PLAN,
        RunState.PLANNING,
        "plan",
        _model_request(facts.config.model, facts.config.max_output_tokens),
        digest=progress.chain,
        reservation=reserve_plan(facts, progress),
    )


def _model(facts: Facts, progress: Progress) -> Action:
    tokens = prompt_tokens(facts, progress)
    if tokens > facts.rules.context_share * facts.config.context_window:
        compaction = _compaction(facts, progress)
        if compaction is not None:
            return compaction
    request = _model_request(facts.config.model, facts.config.max_output_tokens)
    return NewStep(
        StepKind.MODEL,
        model_state(facts.state),
        facts.config.model,
        request,
        digest=progress.chain,
        plan_item=progress.plan_item or None,
        reservation=reserve(facts, progress),
    )


def _model_request(model: str, max_output_tokens: int) -> dict[str, Json]:
    return {"model": model, "max_output_tokens": max_output_tokens}


def model_state(state: RunState) -> RunState:
    """The first model call of a stretch chooses an action; later ones observe."""
    fresh = {RunState.IDLE, RunState.PLANNING}
    return RunState.EXECUTING if state in fresh else RunState.OBSERVING


def _compaction(
    facts: Facts, progress: Progress, *, turns_kept: int = 2
) -> NewStep | None:
    """Shorten old results, the last turns aside; None if that gains nothing."""
    assistants = [
        number
        for message, number in zip(progress.messages, progress.made_by, strict=True)
        if message["role"] == "assistant"
    ]
    turns = [*assistants, facts.sequence + 1]
    upto = turns[-1 - turns_kept] - 1 if len(turns) > turns_kept else 0
    gain = any(
        conversation.shortened(message) is not message
        for message, number in zip(progress.messages, progress.made_by, strict=True)
        if number <= upto
    )
    if not gain or progress.pending:
        return None
    return NewStep(
        StepKind.COMPACTION, model_state(facts.state), "compaction", {"upto": upto}
    )


def _shortened_after_overflow(facts: Facts, progress: Progress) -> NewStep | None:
    """The endpoint said the prompt is too long: shorten it, once.

    The last turns too, where nothing else is left to shorten.
    """
    last = progress.last
    if last is None or last.error_class != "context":
        return None
    if progress.compacted_at == last.number - 1:
        return None
    return (
        _compaction(facts, progress)
        or _compaction(facts, progress, turns_kept=1)
        or _compaction(facts, progress, turns_kept=0)
    )


# ---- calls


def _call(facts: Facts, progress: Progress, call: PendingCall) -> Action:
    try:
        offered, proposed, item = calls.understood(facts, progress, call)
    except InvalidCall as error:
        return _unperformed(call, "feedback", error.message)
    except StepError as error:
        return _unperformed(call, "fault", error.message)
    if offered.spec.asks is not None:
        return parks.question(facts, progress, offered, proposed)
    rules = facts.config.review_when
    answer = gates.gate(
        offered,
        proposed,
        progress,
        rules=rules,
        step=call.step,
        was_restored=facts.was_restored,
    )
    if isinstance(answer, Park):
        return answer
    if answer is Gate.CHECK:
        return _check(facts, progress, proposed, item)
    return _perform(progress, offered, proposed, item)


def _unperformed(call: PendingCall, why: str, text: str) -> NewStep:
    """A step for a call that cannot be made; nothing is performed.

    `why` is "feedback", which the model reads as the result, or "fault": the tool's
    own code failed, so a person has to look.
    """
    return NewStep(
        StepKind.TOOL,
        RunState.EXECUTING,
        shorten(call.name or "unknown", 200),
        {"call_id": call.id, "arguments": call.raw, why: text},
    )


def _perform(
    progress: Progress, offered: Offered, call: ProposedCall, item: int | None
) -> NewStep:
    approval = progress.approval
    edited = approval is not None and approval.arguments is not None
    is_plan = call.tool == UPDATE_PLAN
    return NewStep(
        StepKind.TOOL,
        RunState.PLANNING if is_plan else RunState.EXECUTING,
        call.tool,
        {
            "call_id": call.id,
            "arguments": dict(call.arguments),
            "key": call.key,
            "effect": call.effect,
            "occurrence": call.occurrence,
            "edited": edited,
            "seal": offered.seal(dict(call.arguments)),
        },
        digest=call.digest,
        plan_item=item or progress.plan_item or None,
    )


# ---- checks


def _check(
    facts: Facts, progress: Progress, call: ProposedCall, item: int | None
) -> NewStep:
    request = {
        "call_id": call.id,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "digest": call.digest,
    }
    return _check_step(facts, progress, call.tool, request, item)


def _check_step(
    facts: Facts,
    progress: Progress,
    name: str,
    request: dict[str, Json],
    item: int | None,
) -> NewStep:
    model = facts.config.check_model
    prompt = check_messages(facts.config, facts.task, request, progress)
    size = canonical.size(dumps(prompt)) + len(dumps(confidence.SCHEMA))
    return NewStep(
        StepKind.CHECK,
        RunState.EXECUTING if name != ANSWER else model_state(facts.state),
        name,
        request | {"model": model, "max_output_tokens": CHECK_OUTPUT_TOKENS},
        digest=digest(prompt),
        plan_item=item or progress.plan_item or None,
        reservation=worst(facts, model, budgets.tokens_of(size), CHECK_OUTPUT_TOKENS),
    )


def check_messages(
    config: AgentConfig, task: str, request: Mapping[str, Any], progress: Progress
) -> list[dict[str, Json]]:
    """The exact prompt of a check step."""
    return confidence.messages(
        tool=request["tool"],
        arguments=request["arguments"],
        task=task,
        rules=config.review_when,
        recent=progress.recent,
    )


# ---- the end


def _answer(facts: Facts, progress: Progress, text: str) -> Action:
    if progress.final_accepted:
        return Finish(text)
    left = progress.open_items()
    if left:
        named = ", ".join(f"{n}. {progress.plan[n - 1]['text']}" for n in left)
        return parks.stuck(
            facts,
            progress,
            ParkReason.OPEN_PLAN,
            f"The agent stopped with open items: {named}",
            {"open_items": left, "answer": text},
        )
    if not facts.config.check_answer:
        return Finish(text)
    return _checked_answer(facts, progress, text)


def _checked_answer(facts: Facts, progress: Progress, text: str) -> Action:
    proof = digest([ANSWER, {"answer": text}])
    check = progress.check
    if check is None or (check.request or {}).get("digest") != proof:
        request = {
            "call_id": "",
            "tool": ANSWER,
            "arguments": {"answer": text},
            "digest": proof,
        }
        return _check_step(facts, progress, ANSWER, request, None)
    said: dict[str, Any] = check.response or {}
    if check.status is not StepStatus.SUCCEEDED or "problem" in said:
        problem = f"The check of the answer failed: {said.get('problem', 'no answer')}"
        return parks.stuck(
            facts, progress, ParkReason.ANSWER, problem, {"answer": text}
        )
    threshold, rules = facts.config.threshold, facts.config.review_when
    judged = gates.judge(said, threshold, rules)
    if judged is None:
        return Finish(text)
    figures = gates.check_figures(said, threshold, rules) | {"answer": text}
    return parks.stuck(facts, progress, ParkReason.ANSWER, judged[1], figures)


def _afford(facts: Facts, progress: Progress, step: NewStep) -> Action:
    """The step, or a park with figures if it does not fit a budget."""
    model = step.request.get("model")
    if model and _is_priceless(facts, model):
        question = f"There is a money budget, and nobody knows what {model} costs."
        figures: dict[str, Json] = {"budget": "money", "model": model}
        return parks.stuck(facts, progress, ParkReason.BUDGET, question, figures)
    breach = budgets.breach(facts.limits, facts.used, step.reservation)
    if breach is None:
        return step
    park = parks.stuck(
        facts, progress, ParkReason.BUDGET, breach.sentence(), breach.figures()
    )
    return replace(park, error=None)


def _is_priceless(facts: Facts, model: str) -> bool:
    """A model without a price cannot run under a money budget."""
    has_budget = facts.limits.get("money") is not None
    return has_budget and facts.toolbox.prices.get(model) is None
