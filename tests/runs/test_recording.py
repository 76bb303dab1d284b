"""One commit writes the same rows, whichever way it is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock
from runs import recording, recording_sql, records
from runs.errors import IllegalTransition, LeaseLost, Stale
from runs.models import Attempt, Effect, Run, Step, Transition
from runs.records import Delta, Fence, Move, Planned, Record, Result
from runs.states import EffectStatus, RunState, StepKind, StepStatus
from tests.support.rows import effect_of, make_run

pytestmark = pytest.mark.django_db

OWNER = "host/1:2:owner"
NOW = clock.now()
LATER = NOW + timedelta(seconds=3)


@pytest.fixture(
    params=["orm", pytest.param("one statement", marks=pytest.mark.postgres)]
)
def write(request):
    """Both writers of a driver's record."""
    ways = {"orm": recording._write, "one statement": recording._write_at_once}

    def written(record: Record) -> None:
        if request.param == "one statement":
            assert recording_sql.fits(record)
        with transaction.atomic():
            ways[request.param](record)

    return written


@pytest.fixture
def run(db):
    run = make_run(
        sequence=1,
        state="executing",
        lease_owner=OWNER,
        claims=2,
        claims_alone=1,
        cost=Decimal("0.1"),
        tokens=5,
        active_ms=7,
        steps_used=1,
    )
    Step.objects.create(
        run=run,
        number=1,
        kind="model",
        status="planned",
        state="executing",
        planned_at=NOW,
        cost=Decimal("0.01"),
    )
    return run


def result(**fields: Any) -> Result:
    values: dict[str, Any] = {
        "number": 1,
        "status": StepStatus.SUCCEEDED,
        "response": {"content": "é ␀ \u2028", "calls": [], "n": 1.5},
        "finished_at": LATER,
        "started_at": NOW,
        "confidence": Decimal("0.6200"),
        "attempts": 2,
        "input_tokens": 100,
        "cached_tokens": 40,
        "output_tokens": 20,
        "cost": Decimal("0.0056150001"),
        "is_estimated": True,
    }
    return Result(**values | fields)


PLANNED = Planned(
    number=2,
    kind=StepKind.TOOL,
    state=RunState.OBSERVING,
    name="echo",
    request={"arguments": {"text": "é"}, "key": None},
    planned_at=LATER,
    digest="d" * 64,
    plan_item=3,
    reserved_tokens=9,
    reserved_cost=Decimal("0.0000000001"),
)
MOVE = Move(RunState.EXECUTING, RunState.OBSERVING, "the model …", "worker h", LATER)
DELTA = Delta(1, 3000, 120, Decimal("0.0056150001"), is_estimated=True)


def fence(run: Run, **fields: Any) -> Fence:
    values: dict[str, Any] = {"run_id": run.pk, "sequence": 1, "owner": OWNER}
    return Fence(**values | fields)


def row_of(instance: Any) -> dict[str, Any]:
    instance.refresh_from_db()
    return {
        name: value
        for name, value in vars(instance).items()
        if not name.startswith("_") and name not in {"id", "run_id"}
    }


DONE_ROW = {
    "number": 1,
    "kind": "model",
    "status": "succeeded",
    "state": "executing",
    "name": "",
    "plan_item": None,
    "request": {},
    "response": {"content": "é ␀ \u2028", "calls": [], "n": 1.5},
    "digest": "",
    "attempts": 2,
    "error_class": "",
    "error_text": "",
    "confidence": Decimal("0.6200"),
    "input_tokens": 100,
    "cached_tokens": 40,
    "output_tokens": 20,
    "cost": Decimal("0.0156150001"),
    "is_estimated": True,
    "reserved_tokens": 0,
    "reserved_cost": Decimal(0),
    "planned_at": NOW,
    "started_at": NOW,
    "finished_at": LATER,
}
PLANNED_ROW = {
    "number": 2,
    "kind": "tool",
    "status": "planned",
    "state": "observing",
    "name": "echo",
    "plan_item": 3,
    "request": {"arguments": {"text": "é"}, "key": None},
    "response": None,
    "digest": "d" * 64,
    "attempts": 0,
    "error_class": "",
    "error_text": "",
    "confidence": None,
    "input_tokens": 0,
    "cached_tokens": 0,
    "output_tokens": 0,
    "cost": Decimal(0),
    "is_estimated": False,
    "reserved_tokens": 9,
    "reserved_cost": Decimal("0.0000000001"),
    "planned_at": LATER,
    "started_at": None,
    "finished_at": None,
}


def test_the_run_is_counted_and_moved_in_the_same_commit(run, write):
    before = row_of(run)

    write(
        Record(
            fence(run), result(), (PLANNED,), DELTA, (MOVE,), {"plan": [{"text": "a"}]}
        )
    )

    assert row_of(run) == before | {
        "sequence": 2,
        "state": "observing",
        "steps_used": 2,
        "active_ms": 3007,
        "tokens": 125,
        "cost": Decimal("0.1056150001"),
        "is_estimated": True,
        "claims": 0,
        "claims_alone": 0,
        "plan": [{"text": "a"}],
    }
    moved = row_of(Transition.objects.get())
    assert (moved["from_state"], moved["to_state"]) == ("executing", "observing")
    assert (moved["reason"], moved["actor"]) == ("the model …", "worker h")
    assert (moved["by_id"], moved["at"]) == (None, LATER)


def test_both_steps_are_written_column_by_column(run, write):
    write(Record(fence(run), result(), (PLANNED,), DELTA, (MOVE,), {}))

    done, planned = Step.objects.filter(run=run)
    assert row_of(done) == DONE_ROW
    assert row_of(planned) == PLANNED_ROW


def test_the_end_of_a_run_is_two_moves_and_no_step(run, write):
    moves = (
        Move(RunState.EXECUTING, RunState.COMPLETING, "final answer", "w", LATER),
        Move(RunState.COMPLETING, RunState.COMPLETED, "delivered", "w", LATER),
    )
    fields = {"output": "Done.", "finished_at": LATER} | records.RELEASED

    write(Record(fence(run), result(), (), DELTA, moves, fields))

    row = row_of(run)
    assert (row["state"], row["sequence"], row["output"]) == ("completed", 1, "Done.")
    assert (row["lease_owner"], row["wake_at"]) == ("", None)
    states = list(Transition.objects.values_list("to_state", flat=True))
    assert states == ["completing", "completed"]


def test_a_park_is_kept_as_json(run, write):
    park = {"reason": "question", "call": None, "figures": {"n": [1]}}
    fields = {"park": park, "park_reason": "question", "parked_at": LATER}
    move = Move(RunState.EXECUTING, RunState.AWAITING_HUMAN, "asks", "w", LATER)

    write(Record(fence(run), result(), (), DELTA, (move,), fields | records.RELEASED))

    row = row_of(run)
    assert (row["park"], row["parked_at"]) == (park, LATER)


def test_a_first_step_has_no_result(run, write):
    Step.objects.all().delete()
    Run.objects.update(sequence=0)

    write(Record(fence(run, sequence=0), steps=(replace(PLANNED, number=1),)))

    run.refresh_from_db()
    assert (run.sequence, run.state, Step.objects.get().number) == (1, "executing", 1)


@pytest.mark.parametrize(
    "wrong", [{"owner": "somebody"}, {"sequence": 0}, {"sequence": 2}]
)
def test_a_fence_that_does_not_hold_writes_nothing(run, write, wrong):
    before = row_of(run)

    with pytest.raises(LeaseLost):
        write(Record(fence(run, **wrong), result(), (PLANNED,), DELTA, (MOVE,)))

    assert row_of(run) == before
    assert Step.objects.get().status == "planned"
    assert Transition.objects.count() == 0


def test_a_step_that_is_closed_is_not_closed_again(run, write):
    Step.objects.update(status="skipped")

    write(Record(fence(run), result(), (PLANNED,), DELTA, (MOVE,)))

    assert Step.objects.get(number=1).status == "skipped"


def test_a_commit_checks_its_moves_first(run):
    illegal = Move(RunState.COMPLETED, RunState.IDLE, "", "", NOW)

    with pytest.raises(IllegalTransition):
        recording.commit(Record(fence(run), moves=(illegal,)))


def test_a_person_whose_run_went_on_is_told_that_it_is_stale(run):
    waits = Fence(run.pk, 1, "", RunState.AWAITING_HUMAN)

    with pytest.raises(Stale):
        recording.commit(Record(waits))


def test_a_driver_without_a_lease_has_lost_it(run):
    lost = fence(run, owner="somebody")
    attempt = Attempt(run=run, step_number=1, number=1, retry_at=LATER)
    effect = Effect(key="k", run=run, root=run, step_number=1, started_at=NOW)

    with pytest.raises(LeaseLost):
        recording.commit(Record(lost))
    with pytest.raises(LeaseLost):
        recording.retry(lost, attempt, Delta())
    with pytest.raises(LeaseLost):
        recording.start_effect(lost, effect)


@pytest.mark.parametrize(
    ("stands", "owner_after"),
    [(None, OWNER), ("not_done", OWNER), ("done", "x"), ("unknown", "x")],
)
def test_an_effect_is_started_unless_it_may_have_happened(run, stands, owner_after):
    if stands:
        effect_of(run, status=stands, owner="x").save(force_insert=True)

    found = recording.start_effect(fence(run), effect_of(run))

    kept = Effect.objects.get()
    assert (found.owner, kept.owner) == (owner_after, owner_after)
    assert kept.status == (stands if stands in {"done", "unknown"} else "started")
    assert Step.objects.get().status == "started"


def test_a_retry_lets_go_of_the_run_and_pays_for_what_may_be_billed(run):
    Step.objects.update(status="started")
    effect_of(run).save(force_insert=True)
    attempt = Attempt(
        run=run,
        step_number=1,
        number=1,
        error_class="transient",
        error_text="busy",
        started_at=NOW,
        finished_at=LATER,
        retry_at=LATER,
    )
    spent = Delta(0, 10, 5, Decimal("0.5"), is_estimated=True)

    recording.retry(fence(run), attempt, spent)

    run.refresh_from_db()
    step = Step.objects.get()
    assert (run.lease_owner, run.wake_at, run.claims) == ("", LATER, 0)
    assert (run.cost, run.is_estimated) == (Decimal("0.6"), True)
    assert (step.status, step.attempts, step.cost) == ("planned", 1, Decimal("0.51"))
    assert Effect.objects.get().status == "not_done"


def test_the_ledger_is_settled_with_the_result(run):
    effect_of(run).save(force_insert=True)
    settled = ("k" * 64, EffectStatus.DONE, {"sent": 1})

    recording.commit(
        Record(fence(run), result(), (PLANNED,), DELTA, (MOVE,), effect=settled)
    )

    effect = Effect.objects.get()
    assert (effect.status, effect.result, effect.finished_at) == (
        "done",
        {"sent": 1},
        LATER,
    )


def test_who_moved_a_run_is_kept(run):
    boss = User.objects.create(username="boss")
    Run.objects.update(state="awaiting_human", parked_at=NOW, lease_owner="")
    move = Move(
        RunState.AWAITING_HUMAN, RunState.EXECUTING, "yes", "boss", NOW, boss.pk
    )
    waits = Fence(run.pk, 1, "", RunState.AWAITING_HUMAN)

    recording.commit(Record(waits, moves=(move,), fields=records.unparked(run, NOW)))

    assert Transition.objects.get().by == boss
