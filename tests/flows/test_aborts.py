"""What is in flight when a person aborts a run is kept when it ends."""

from __future__ import annotations

from decimal import Decimal

import pytest

from runs import engine, policy
from runs.errors import LeaseLost
from runs.models import Effect, Price, Run
from runs.services import cancel
from runs.work import Work
from tests.support.advance import OWNER, advance, provider, take
from tests.support.replies import calls, check, error, text

pytestmark = pytest.mark.django_db


def abort_in_flight(run: Run, boss) -> Run:
    """Perform the next act of the run, which is aborted before it is recorded."""
    take(run)
    held = engine.open(run.pk, OWNER)
    work = engine.proceed(held)
    assert isinstance(work, Work)
    work = engine.begin(held, work)
    assert isinstance(work, Work)
    outcome = work.perform()
    cancel(run.pk, by=boss, reason="Enough.")
    with pytest.raises(LeaseLost):
        engine.record(held, outcome)
    return Run.objects.get(pk=run.pk)


def test_an_act_that_was_done_is_in_the_ledger_as_any_other(run, boss):
    with provider(calls(("post", {"what": "x"})), check(0.9)):
        run = advance(run, steps=2)
        run = abort_in_flight(run, boss)

    effect = Effect.objects.get()
    assert (effect.status, effect.result) == ("done", {"posted": "x"})
    assert run.steps.get(name="post", kind="tool").status == "succeeded"
    assert run.state == "aborted"


def test_an_act_that_never_went_out_is_not_in_the_ledger_as_done(run, boss):
    with provider(calls(("closed_office", {"what": "x"})), check(0.9)):
        run = advance(run, steps=2)
        run = abort_in_flight(run, boss)

    step = run.steps.get(name="closed_office", kind="tool")
    assert Effect.objects.get().status == "not_done"
    assert (step.status, step.error_class) == ("failed", "transient")


def test_an_act_of_unknown_outcome_stays_unknown(run, boss):
    with provider(calls(("lost", {"what": "x"})), check(0.9)):
        run = advance(run, steps=2)
        abort_in_flight(run, boss)

    assert Effect.objects.get().status == "unknown"


def test_what_a_late_reply_costs_is_counted(run, boss):
    Price.objects.create(model="gpt-5-mini", input=Decimal(10), output=Decimal(10))
    policy.forget()

    with provider(text("Done.")):
        run = abort_in_flight(run, boss)

    assert (run.tokens, run.cost) == (120, Decimal("0.0012"))
    assert run.sequence == 1


def test_a_late_failure_that_may_be_billed_is_counted_as_a_guess(run, boss):
    with provider(error(504, "timeout")):
        run = abort_in_flight(run, boss)

    assert run.is_estimated
    assert run.tokens > 0
