"""What comes of a step after its run was aborted or taken over."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentops import clock
from runs import recording
from runs.models import Effect, Run, Step
from runs.records import Delta, Fence, Result
from runs.states import EffectStatus, StepStatus
from tests.support.rows import effect_of, make_run

pytestmark = pytest.mark.django_db

OWNER = "host/1:2:owner"
NOW = clock.now()
RESULT = Result(
    number=1,
    status=StepStatus.SUCCEEDED,
    response={"result": "sent"},
    finished_at=NOW + timedelta(seconds=3),
    started_at=NOW,
)


@pytest.fixture
def run(db):
    """Its only step is an act that has been started."""
    run = make_run(sequence=1, state="executing", lease_owner=OWNER, steps_used=1)
    Step.objects.create(
        run=run,
        number=1,
        kind="tool",
        name="post",
        status="started",
        state="executing",
        planned_at=NOW,
    )
    return run


def keep(run: Run, ledger: EffectStatus) -> Effect:
    settled = (Effect.objects.get().key, ledger, "sent")
    recording.keep_late_result(Fence(run.pk, 1, OWNER), RESULT, Delta(1), settled)
    run.refresh_from_db()
    return Effect.objects.get()


@pytest.mark.parametrize("ledger", [EffectStatus.DONE, EffectStatus.NOT_DONE])
def test_all_of_it_is_kept_of_a_run_that_was_aborted(run, ledger):
    Run.objects.update(state="aborted", finished_at=NOW)
    effect_of(run).save()

    effect = keep(run, ledger)

    assert (effect.status, effect.result) == (ledger.value, "sent")
    assert Step.objects.get().status == "succeeded"
    assert (run.state, run.steps_used) == ("aborted", 2)


@pytest.mark.parametrize("known", ["started", "unknown"])
def test_of_a_run_that_was_taken_over_the_ledger_alone_learns_of_an_act(run, known):
    effect_of(run, status=known).save()

    effect = keep(run, EffectStatus.DONE)

    assert (effect.status, effect.result) == ("done", "sent")
    assert Step.objects.get().status == "started"
    assert run.steps_used == 1


@pytest.mark.parametrize(
    ("ledger", "owner"),
    [(EffectStatus.NOT_DONE, OWNER), (EffectStatus.DONE, "who began it anew")],
)
def test_the_ledger_learns_only_of_an_act_of_ones_own_that_was_done(run, ledger, owner):
    effect_of(run, owner=owner).save()

    assert keep(run, ledger).status == "started"
