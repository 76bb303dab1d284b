"""A decision is taken back, and the run goes on as if it had never been made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from agentops import clock
from runs import deciding, engine, history, leases, undoing
from runs.errors import LeaseLost, Stale
from runs.models import Run, Step, Transition
from runs.progress import Progress
from runs.values import Verdict, VerdictKind
from tests.flows.conftest import decide
from tests.support import acts
from tests.support.advance import OWNER, advance, provider, settle, take
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

V = VerdictKind
LETTER = calls(("post", {"what": "x"}))
WINDOW_S = 5.0


@pytest.fixture
def parked(run):
    with provider(LETTER, check(0.2)):
        return settle(run)


def approve(run, by, **more: Any):
    """Approve, to take effect in a while; returns when."""
    run.refresh_from_db()
    effective_at = clock.later(WINDOW_S)
    with transaction.atomic():
        deciding.resume(
            run.pk,
            Verdict(V.APPROVE, **more),
            by=by,
            sequence=run.sequence,
            wake_at=effective_at,
        )
    return effective_at


def take_back(run, by, effective_at, sequence):
    with transaction.atomic():
        return undoing.take_back(
            run.pk, by=by, sequence=sequence, effective_at=effective_at
        )


def progress(run):
    run.refresh_from_db()
    opened = history.opening(run)
    return Progress.of(opened.messages, history.steps(run))


def test_the_run_waits_as_it_did_and_every_step_stays(parked, boss):
    before, told = (parked.park, parked.park_reason), progress(parked)
    sequence = parked.sequence
    effective_at = approve(parked, boss, note="Fine.")

    after = take_back(parked, boss, effective_at, sequence)

    now = progress(parked)
    assert parked.state == "awaiting_human"
    assert (parked.park, parked.park_reason) == before
    assert (parked.wake_at, parked.lease_owner, parked.sequence) == (None, "", after)
    assert replace(now) == told
    steps = list(Step.objects.filter(run=parked).order_by("number"))
    assert [step.number for step in steps] == list(range(1, after + 1))
    names = [(step.kind, step.name, step.status) for step in steps[sequence:]]
    assert names == [
        ("decision", "approve", "succeeded"),
        ("tool", "post", "skipped"),
        ("decision", "undo", "succeeded"),
    ]


def test_the_move_back_is_written_down_with_who_made_it(parked, boss):
    sequence = parked.sequence
    take_back(parked, boss, approve(parked, boss), sequence)

    move = Transition.objects.filter(run=parked).order_by("-pk")[0]

    assert (move.from_state, move.to_state) == ("executing", "awaiting_human")
    assert (move.actor, move.by) == ("boss", boss)


@pytest.mark.parametrize(
    ("kind", "more", "posted"),
    [(V.APPROVE, {}, 1), (V.REJECT, {"text": "No."}, 0), (V.GUIDE, {"text": "B."}, 0)],
)
def test_another_decision_follows_and_the_run_completes(
    parked, boss, kind, more, posted
):
    sequence = parked.sequence
    for _ in range(2):
        sequence = take_back(parked, boss, approve(parked, boss), sequence)

    decide(parked, boss, kind, **more)
    with provider(text("Done.")) as model:
        done = settle(parked)

    assert done.state == "completed"
    assert len(acts.acts()) == posted
    roles = [message["role"] for message in model.requests[0].messages]
    assert roles.count("tool") == 1
    prompted = Step.objects.filter(run=done, kind__in=["plan", "model", "check"])
    assert all(history.prompt_of(done, step.number) for step in prompted)


def test_edited_arguments_that_were_taken_back_are_forgotten(parked, boss):
    sequence = parked.sequence
    effective_at = approve(parked, boss, arguments={"what": "y"})
    take_back(parked, boss, effective_at, sequence)

    decide(parked, boss, V.APPROVE)
    with provider(text("Done.")):
        settle(parked)

    assert [act["what"] for act in acts.acts()] == ["x"]


def test_nobody_claims_a_run_before_its_time(parked, boss, advance_clock):
    approve(parked, boss)

    assert leases.claim(OWNER, 10) == []
    advance_clock(WINDOW_S + 0.01)
    assert leases.claim(OWNER, 10) == [parked.pk]


def test_a_driver_that_has_claimed_it_wins(parked, boss, advance_clock):
    sequence = parked.sequence
    effective_at = approve(parked, boss)
    advance_clock(WINDOW_S + 0.01)
    leases.claim(OWNER, 10)

    with pytest.raises(Stale, match="Too late: it has begun"):
        take_back(parked, boss, effective_at, sequence)


@pytest.mark.parametrize("way", ["released", "forfeited", "died"])
def test_a_driver_that_was_there_leaves_a_mark(parked, boss, advance_clock, way):
    sequence = parked.sequence
    effective_at = approve(parked, boss)
    advance_clock(WINDOW_S + 0.01)
    claimed = leases.claim(OWNER, 10)
    leave = {
        "released": lambda: leases.release(claimed, OWNER),
        "forfeited": lambda: leases.forfeit(claimed, OWNER),
        "died": lambda: leases.end(OWNER),
    }
    leave[way]()

    with pytest.raises(Stale, match="Too late"):
        take_back(parked, boss, effective_at, sequence)


def test_a_driver_that_still_holds_the_park_in_memory_writes_nothing(run, boss):
    """It let go of the run with the commit that parked it: its fence fits no more."""
    with provider(LETTER, check(0.2)):
        take(run)
        held = engine.open(run.pk, OWNER)
        work = engine.proceed(held)
        while hasattr(work, "perform"):
            last = work.perform()
            work = engine.record(held, last)
    parked = Run.objects.get(pk=run.pk)
    sequence = parked.sequence
    take_back(parked, boss, approve(parked, boss), sequence)

    with pytest.raises(LeaseLost):
        engine.proceed(held)

    parked.refresh_from_db()
    assert (parked.state, parked.sequence) == ("awaiting_human", sequence + 3)


def test_what_took_effect_at_once_is_not_taken_back(parked, boss):
    sequence = parked.sequence
    decide(parked, boss, V.APPROVE)
    parked.refresh_from_db()

    with pytest.raises(Stale, match="at once"):
        take_back(parked, boss, parked.wake_at, sequence)


def test_nothing_is_taken_back_once_the_call_was_made(parked, boss):
    sequence = parked.sequence
    effective_at = approve(parked, boss)
    with provider(text("Done.")):
        advance(parked)

    with pytest.raises(Stale, match="Too late"):
        take_back(parked, boss, effective_at, sequence)


def test_it_needs_the_transaction_of_its_caller(db, boss, run):
    connection = transaction.get_connection()
    assert connection.in_atomic_block  # of the test
    with pytest.raises(Stale):
        undoing.take_back(run.pk, by=boss, sequence=0, effective_at=clock.now())
