"""Does a decision fit what a parked run waits for? Reads only.

Which verdicts go with which reason, what each of them needs, and whether the call
that was shown is still the one that would run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runs import budgets, hiding, plans
from runs.canonical import MAX_ARGUMENTS, Json, digest, dumps
from runs.errors import BadInput, Stale, StepError
from runs.facts import Action, Facts
from runs.models import Effect, Run
from runs.progress import UPDATE_PLAN
from runs.states import EffectStatus, ParkReason
from runs.toolbox import Offered, propose
from runs.values import Park, ProposedCall, Verdict, VerdictKind

V = VerdictKind
_ABOUT_A_CALL = (V.APPROVE, V.GUIDE, V.SUPPLY, V.PLAN, V.REJECT, V.GO_ON, V.ABORT)
_ABOUT_A_FAILURE = (V.RETRY, V.GUIDE, V.SUPPLY, V.PLAN, V.ABORT)
_ABOUT_THE_END = (V.APPROVE, V.GUIDE, V.PLAN, V.REJECT, V.ABORT)
_ALLOWED: dict[ParkReason, tuple[VerdictKind, ...]] = {
    ParkReason.LOW_CONFIDENCE: _ABOUT_A_CALL,
    ParkReason.REVIEW_RULE: _ABOUT_A_CALL,
    ParkReason.ALWAYS_ASK: _ABOUT_A_CALL,
    ParkReason.UNTRUSTED_CONTENT: _ABOUT_A_CALL,
    ParkReason.REPEATED_CALL: _ABOUT_A_CALL,
    ParkReason.RESTORED: _ABOUT_A_CALL,
    ParkReason.CHECK_FAILED: (*_ABOUT_A_CALL, V.RETRY),
    ParkReason.CHANGED: _ABOUT_A_CALL,
    ParkReason.QUESTION: (V.ANSWER, V.GO_ON, V.ABORT),
    ParkReason.ESCALATION: (V.GUIDE, V.PLAN, V.GO_ON, V.ABORT),
    ParkReason.ANSWER: _ABOUT_THE_END,
    ParkReason.OPEN_PLAN: _ABOUT_THE_END,
    ParkReason.BUDGET: (V.TOP_UP, V.ABORT),
    ParkReason.INVALID_CALLS: (V.GUIDE, V.PLAN, V.RETRY, V.ABORT),
    ParkReason.NO_PROGRESS: (V.GUIDE, V.PLAN, V.RETRY, V.ABORT),
    ParkReason.RETRIES: _ABOUT_A_FAILURE,
    ParkReason.FATAL: _ABOUT_A_FAILURE,
    ParkReason.REFUSED: _ABOUT_A_FAILURE,
    ParkReason.CONTEXT: (V.RETRY, V.ABORT),
    ParkReason.OUTCOME_UNKNOWN: (V.OUTCOME, V.ABORT),
    ParkReason.POISON: (V.RETRY, V.ABORT),
}


def allowed_verdicts(park: Mapping[str, Any]) -> tuple[VerdictKind, ...]:
    """Which decisions fit what a run waits for (`Run.park`)."""
    kinds = (*_ALLOWED[ParkReason(park["reason"])], V.FORK)
    if _is_about_an_act(park):
        return kinds
    return tuple(kind for kind in kinds if kind is not V.SUPPLY)


def _is_about_an_act(park: Mapping[str, Any]) -> bool:
    """Is there a call that a person could carry out instead of its tool?"""
    tool = (park.get("call") or {}).get("tool", UPDATE_PLAN)
    return bool(tool != UPDATE_PLAN)


class Changed(Stale):
    """What was shown is not what would run; `parts` names what differs."""

    def __init__(self, parts: Sequence[str]) -> None:
        super().__init__(f"Changed since this was shown: {', '.join(parts)}.")
        self.parts = tuple(parts)


def check_fits(
    run: Run, facts: Facts, park: Mapping[str, Any], verdict: Verdict
) -> None:
    """Raises `BadInput` for what is missing or wrong, `Stale` for what changed."""
    if verdict.kind not in allowed_verdicts(park):
        label = ParkReason(park["reason"]).label.lower()
        raise BadInput({"": f"{verdict.kind.value} does not fit here ({label})."})
    needs_words = {V.REJECT, V.GUIDE, V.ANSWER, V.ABORT}
    if verdict.kind in needs_words and not verdict.text.strip():
        raise BadInput({"text": "Please say something here."})
    if verdict.kind is V.OUTCOME and verdict.happened is None:
        raise BadInput({"happened": "Did it happen, or did it not?"})
    if verdict.kind is V.SUPPLY and verdict.result in (None, ""):
        raise BadInput({"result": "Say what came of it."})
    if verdict.kind is V.PLAN:
        _check_plan(run, verdict)
    if park.get("call"):
        _check_call(run, facts, park, verdict)


def _check_call(
    run: Run, facts: Facts, park: Mapping[str, Any], verdict: Verdict
) -> None:
    """A call that is made because of a decision is the one that was shown.

    What cannot be made any more can still be told of: the agent then hears why.
    """
    repeats = verdict.kind is V.RETRY or verdict.happened is False
    if repeats and _is_usable(facts, park["call"]["tool"]):
        _check_seal(facts, park)
    if verdict.kind is V.APPROVE:
        _check_seal(facts, park)
        given = verdict.arguments
        edited(run, facts, park["call"]["arguments"] if given is None else given)


def _check_plan(run: Run, verdict: Verdict) -> None:
    if not run.plan:
        raise BadInput({"": "This run has no plan."})
    if plans.changed(run.plan, plans.left(verdict.plan)) != list(verdict.plan):
        raise BadInput({"items": "What is finished stays as it is."})


def _check_seal(facts: Facts, park: Mapping[str, Any]) -> None:
    """What was shown has to be what will run; raises `Stale` naming what changed."""
    call = park["call"]
    now = usable(facts, call["tool"]).seal(call["arguments"])
    changed = [name for name, was in park["seal"].items() if now.get(name) != was]
    if changed:
        raise Changed(sorted(changed))


def usable(facts: Facts, tool: str) -> Offered:
    """Raises `Stale` for a tool that the run may not use (any more)."""
    if not _is_usable(facts, tool):
        raise Stale(f"{tool} may not be used any more.")
    return facts.toolbox.tools[tool]


def _is_usable(facts: Facts, tool: str) -> bool:
    return tool in facts.toolbox.tools and tool in facts.toolbox.allowed


def edited(run: Run, facts: Facts, arguments: Mapping[str, Json]) -> ProposedCall:
    """The parked call with other arguments, validated and sealed. Reads only.

    Raises `BadInput` with a field per wrong argument, `Stale` if no call is parked.
    """
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
    size = len(dumps(dict(arguments)))
    if size > MAX_ARGUMENTS:
        long = f"The arguments have {size:,} characters, at most {MAX_ARGUMENTS:,} run."
        raise BadInput({"": long})
    wrong = offered.spec.problems(arguments)
    if wrong:
        raise BadInput({f"arguments.{name}": text for name, text in wrong.items()})
    checked = offered.spec.validate(arguments)
    _refuse_placeholders(checked)
    offered.spec.vet(checked, offered.settings)
    return checked


def _refuse_placeholders(arguments: Mapping[str, Json]) -> None:
    wrong = hiding.with_placeholders(arguments)
    if wrong:
        raise BadInput({f"arguments.{name}": hiding.REFUSAL for name in wrong})


def topped_up(run: Run, verdict: Verdict) -> dict[str, Json]:
    """The limits that hold from now on; raises `BadInput` for what is no limit."""
    if verdict.kind is not V.TOP_UP:
        return dict(run.limits)
    return budgets.read_limits(verdict.limits, run.limits)


def refuse_short_top_up(verdict: Verdict, action: Action) -> None:
    """Raises `BadInput` where the next call would not fit the new limits either."""
    if verdict.kind is not V.TOP_UP or not isinstance(action, Park):
        return
    if action.reason is ParkReason.BUDGET:
        kind = action.figures.get("budget", "")
        raise BadInput({f"limits.{kind}": f"Not enough yet. {action.question}"})
