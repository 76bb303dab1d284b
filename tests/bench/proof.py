"""That what was measured is the whole product: asked of the rows it left behind."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from agentops import clock
from runs.models import Driver, Run, Step, Transition
from tests.bench.stub import final_answer


def assert_leased(run: Run, owner: str) -> None:
    """While it is driven: a lease with a living driver's name and an end."""
    run.refresh_from_db()
    assert run.lease_owner == owner
    assert run.lease_until is not None
    assert run.lease_until > clock.now()
    assert Driver.objects.filter(owner=owner, ended_at=None).exists()


def assert_complete(ids: Sequence[UUID], calls: int) -> None:
    """Each run ended well, and its steps, transitions and reservations are there."""
    found = Run.objects.in_bulk(ids)
    assert len(found) == len(ids)
    for run in found.values():
        assert (run.state, run.output) == ("completed", final_answer(calls))
        assert (run.lease_owner, run.wake_at) == ("", None)
        assert run.steps_used == 2 * calls - 1
        assert run.cost > Decimal(0)
        _assert_steps(run, calls)
        _assert_transitions(run)


def _assert_steps(run: Run, calls: int) -> None:
    steps = list(Step.objects.filter(run=run).order_by("number"))
    assert [step.number for step in steps] == list(range(1, 2 * calls))
    assert {step.status for step in steps} == {"succeeded"}
    model = [step for step in steps if step.kind == "model"]
    assert len(model) == calls
    for step in model:
        assert step.reserved_tokens > step.input_tokens > 0
        assert step.reserved_cost >= step.cost > 0
        assert len(step.digest) == 64
    assert run.tokens == sum(s.input_tokens + s.output_tokens for s in steps)


def _assert_transitions(run: Run) -> None:
    """Each begins where the one before ended, from idle to completed."""
    moves = list(
        Transition.objects.filter(run=run)
        .order_by("id")
        .values_list("from_state", "to_state")
    )
    states = ["idle", *(after for _, after in moves)]
    assert [before for before, _ in moves] == states[:-1]
    assert states[-2:] == ["completing", "completed"]
