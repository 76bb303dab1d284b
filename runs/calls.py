"""From a call as the model made it to a call as it would run. Pure."""

from __future__ import annotations

from runs import hiding
from runs.canonical import Json, digest, parse_arguments, shorten
from runs.errors import InvalidCall
from runs.facts import Facts
from runs.progress import UPDATE_PLAN, PendingCall, Progress
from runs.states import StepKind
from runs.toolbox import Offered, propose
from runs.tools.plan_item import take_plan_item
from runs.values import ProposedCall, StepValue


def understood(
    facts: Facts, progress: Progress, call: PendingCall
) -> tuple[Offered, ProposedCall, int | None]:
    """The call checked against what this run may do; raises `InvalidCall`."""
    if call.problem:
        raise InvalidCall(call.problem)
    offered = facts.toolbox.tools.get(call.name)
    allowed = facts.toolbox.allowed
    if offered is None or call.name not in allowed:
        names = ", ".join(allowed) or "none"
        raise InvalidCall(
            f"There is no tool {shorten(call.name, 100)!r} here. Tools: {names}."
        )
    arguments, item = take_plan_item(parse_arguments(call.name, call.raw))
    approval = progress.approval
    edited = approval.arguments if approval and approval.call_id == call.id else None
    checked = offered.spec.validate(edited if edited is not None else arguments)
    _refuse_placeholders(offered, checked)
    offered.spec.vet(checked, offered.settings)
    return offered, _sealed(facts, progress, offered, call.id, checked), item


def _refuse_placeholders(offered: Offered, arguments: dict[str, Json]) -> None:
    """Only what goes to people and to our own rows may speak of what is hidden."""
    if offered.spec.asks is not None or offered.spec.name == UPDATE_PLAN:
        return
    wrong = hiding.with_placeholders(arguments)
    if wrong:
        raise InvalidCall(f"{', '.join(wrong)}: {hiding.REFUSAL}")


def _sealed(
    facts: Facts,
    progress: Progress,
    offered: Offered,
    call_id: str,
    arguments: dict[str, Json],
) -> ProposedCall:
    before = progress.acted.get(digest([offered.spec.name, arguments]), 0)
    return propose(
        offered,
        call_id=call_id,
        arguments=arguments,
        root_key=facts.root_key,
        occurrence=before + 1,
    )


def of_step(facts: Facts, step: StepValue) -> ProposedCall | None:
    """The call of a tool's step as it was planned, whatever may be used by now.

    None for a step that only answered a call nobody could carry out.
    """
    request = step.request or {}
    if step.kind is not StepKind.TOOL or "key" not in request:
        return None
    arguments = request["arguments"]
    offered = facts.toolbox.tools.get(step.name)
    return ProposedCall(
        id=request["call_id"],
        tool=step.name,
        arguments=arguments,
        digest=digest([step.name, arguments]),
        key=request["key"],
        effect=request["effect"],
        occurrence=request["occurrence"],
        title=offered.spec.words(arguments) if offered else step.name,
    )


def terms(facts: Facts, call: ProposedCall | None) -> dict[str, Json]:
    """Under which the call would run now; nothing if its tool is not granted."""
    offered = facts.toolbox.tools.get(call.tool) if call else None
    return offered.terms if offered else {}


def seal(facts: Facts, call: ProposedCall | None) -> dict[str, str]:
    offered = facts.toolbox.tools.get(call.tool) if call else None
    return offered.seal(dict(call.arguments)) if offered and call else {}
