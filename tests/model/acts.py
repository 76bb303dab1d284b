"""What holds of each single act: before it begins, and once it is recorded."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from agentops import clock
from reviews.models import Decision
from runs import policy
from runs.canonical import dumps, size
from runs.engine import Held
from runs.models import Effect, Step
from runs.tools.base import Reconciled, Reconciliation
from runs.values import Policy, StepValue
from runs.work import AskModel, CallTool, Outcome, Reconcile, Work

TRACED = "register"
"""The one that can tell afterwards whether it has happened."""
MOST_BYTES_A_TOKEN = 4


def assert_paid_for(work: Work) -> None:
    """What a call of a model can cost at most was put by when it was planned."""
    if not isinstance(work.act, AskModel):
        return
    request = work.act.request
    step = Step.objects.get(run_id=work.run_id, number=work.step)
    read = size(dumps(list(request.messages))) // MOST_BYTES_A_TOKEN
    needs = read + request.max_output_tokens
    assert step.reserved_tokens >= needs, (
        f"{step} of {step.reserved_tokens} needs {needs}"
    )
    assert step.reserved_cost > 0, f"{step} costs nothing"


def assert_allowed(held: Held, work: Work) -> None:
    """Before a call is made: nobody forbids it, and who has to be asked, was."""
    if not isinstance(work.act, CallTool) or isinstance(work.act, Reconcile):
        return
    step = Step.objects.select_related("run").get(run_id=held.run_id, number=work.step)
    offered = policy.read().toolbox(held.facts.config).tools[step.name]
    assert offered.policy is not Policy.BLOCKED, f"{step} acts though its tool is off"
    if work.is_irreversible:
        _assert_written_down(step, held.owner)
        _assert_let_through(step, offered.policy, offered.threshold)


def _assert_written_down(step: Step, owner: str) -> None:
    assert step.status == "started", f"{step} acts and is {step.status}"
    request: dict[str, object] = step.request
    effect = Effect.objects.get(key=request["key"])
    found = effect.status, effect.owner
    assert found == ("started", owner), f"{effect}: {found}, {step} is {owner}'s"


def _assert_let_through(step: Step, asks: Policy, threshold: Decimal) -> None:
    """By a person's word that can no longer be taken back, or by a check."""
    waiting = step.run.reviews.filter(status="open", kind="waiting")
    assert not waiting.exists(), f"{step} acts while a person is asked"
    request: Any = step.request
    call_id = request["call_id"]
    ahead = Decision.objects.filter(
        review__run=step.run, undone_at=None, effective_at__gt=clock.now()
    )
    assert not ahead.exists(), f"{step} acts while its decision can be taken back"
    before = step.run.steps.filter(number__lt=step.number, request__call_id=call_id)
    undone = before.filter(kind="decision", name="undo")
    taken_back = list(undone.values_list("response__undoes", flat=True))
    said = before.filter(kind="decision").exclude(number__in=taken_back)
    if said.filter(name="approve").exists():
        return
    assert asks is not Policy.ALWAYS, f"{step} acts and nobody was asked"
    check = before.filter(kind="check", status="succeeded").last()
    sure = check.confidence if check else None
    assert sure is not None, f"{step} acts without a check"
    assert sure >= threshold, f"{step} acts on {sure}"


def assert_asked_for(step: StepValue, following: object) -> None:
    """An act whose driver is gone: the tool tells, if it can, and else a person."""
    if not isinstance(following, Work):
        assert step.name != TRACED, f"{step.name} can tell, and was not asked"
        return
    assert isinstance(following.act, Reconcile), f"{step.name} is made again"


def assert_recorded(run_id: UUID, number: int, outcome: Outcome) -> None:
    """What came back is what the step says, and the ledger."""
    step = Step.objects.get(run_id=run_id, number=number)
    found = outcome.value
    if isinstance(found, Reconciliation):
        wanted = {
            Reconciled.HAPPENED: {"succeeded"},
            Reconciled.NOT_HAPPENED: {"planned", "outcome_unknown"},
            Reconciled.UNKNOWN: {"outcome_unknown"},
        }[found.outcome]
        assert step.status in wanted, f"{step} {found.outcome} and is {step.status}"
    elif outcome.error is None:
        assert step.status != "outcome_unknown", f"{step}: the answer is lost"
    if step.status == "succeeded" and step.request.get("effect") == "irreversible":
        mine = Effect.objects.filter(run_id=run_id, step_number=number)
        left = mine.exclude(status="done")  # a fork changes nothing in others' rows
        assert not left.exists(), f"{step} has succeeded, the ledger does not say so"
