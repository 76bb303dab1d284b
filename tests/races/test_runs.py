"""Two at once on two connections: one wins, and nothing happens twice."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from runs import deciding, engine, leases, policy, services, slots
from runs.errors import LeaseLost, Stale
from runs.models import Effect, Run, Step, Transition
from runs.services import start
from runs.tools import registry
from runs.values import Verdict, VerdictKind
from runs.work import Work
from tests.flows.conftest import make_agent
from tests.support import acts
from tests.support.advance import advance, park_of, provider, settle, take
from tests.support.replies import calls, check, text
from tests.support.sound import assert_sound

pytestmark = pytest.mark.django_db(transaction=True)

V = VerdictKind
LETTER = calls(("post", {"what": "x"}))


@pytest.fixture(autouse=True)
def _test_tools(tmp_path, monkeypatch):
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    policy.forget()
    with registry.added(*acts.ALL):
        yield


@pytest.fixture
def boss():
    return User.objects.create_superuser("boss")


def at_once(*things: Any) -> list[Any]:
    """What each came to, a result or an exception, all begun at the same moment."""
    start_line = threading.Barrier(len(things))
    got: list[Any] = [None] * len(things)

    def run(place: int) -> None:
        try:
            start_line.wait(10)
            got[place] = things[place]()
        except (Stale, LeaseLost, OperationalError) as error:
            got[place] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(things))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return got


def resumed(run: Run, boss: User, verdict: Verdict) -> Any:
    def act() -> str:
        with transaction.atomic():
            deciding.resume(run.pk, verdict, by=boss, sequence=run.sequence)
        return verdict.kind.value

    return act


def test_submitted_twice_at_once_is_one_run(boss):
    agent = make_agent()

    def submit() -> Run:
        return start(agent=agent, by=boss, task="Work", key="once")

    got = at_once(*[submit] * 4)

    assert len({run.pk for run in got}) == 1
    assert Run.objects.count() == 1
    assert agent.versions.count() == 1


@pytest.mark.parametrize(
    "kinds", [(V.APPROVE, V.APPROVE), (V.APPROVE, V.REJECT), (V.GUIDE, V.REJECT)]
)
def test_h01_decided_twice_at_once_is_one_decision_and_one_effect(boss, kinds):
    with provider(LETTER, check(0.2), text("Done.")):
        run = settle(start(agent=make_agent(), by=boss, task="Post it"))
        verdicts = [Verdict(kind, text="Because.") for kind in kinds]

        got = at_once(*[resumed(run, boss, verdict) for verdict in verdicts])
        run = settle(run)

    won = [kind for kind in got if isinstance(kind, str)]
    assert len(won) == 1
    assert sum(isinstance(lost, Stale) for lost in got) == 1
    assert Step.objects.get(kind="decision").name == won[0]
    assert run.state == "completed"
    assert len(acts.acts()) == (won[0] == "approve")


def test_two_people_who_disagree_on_an_outcome_leave_one_truth(boss):
    with provider(calls(("lost", {"what": "x"})), check(0.9), text("Done.")):
        run = settle(start(agent=make_agent(), by=boss, task="Post it"))

        got = at_once(
            resumed(run, boss, Verdict(V.OUTCOME, happened=True, result="yes")),
            resumed(run, boss, Verdict(V.OUTCOME, happened=False)),
        )

    said = (Step.objects.get(kind="decision").response or {})["happened"]
    assert sum(isinstance(lost, Stale) for lost in got) == 1
    assert Effect.objects.get().status == ("done" if said else "not_done")


def test_a_cancel_and_a_result_at_once_leave_a_run_that_is_aborted(boss):
    agent = make_agent()
    for n in range(5):
        run = start(agent=agent, by=boss, task=f"Work {n}")
        with provider(calls(("echo", {"text": "x"})), text("Done.")):
            take(run)
            held = engine.open(run.pk, "test:1:driver")
            work = engine.proceed(held)
            assert isinstance(work, Work)
            outcome = work.perform()

            at_once(
                lambda: engine.record(held, outcome),  # noqa: B023
                lambda: services.cancel(run.pk, by=boss, reason="Stop."),  # noqa: B023
            )
            with pytest.raises(LeaseLost):
                settle_as_before(run)

        run.refresh_from_db()
        assert run.state == "aborted"
        assert_sound(run)


def settle_as_before(run: Run) -> None:
    """What a driver does that still believes that it holds the run."""
    held = engine.open(run.pk, "test:1:driver")
    engine.record(held, engine.proceed(held).perform())  # type: ignore[union-attr]


def test_two_cancels_at_once_are_one_transition(boss):
    run = start(agent=make_agent(), by=boss, task="Work")

    def cancel() -> None:
        services.cancel(run.pk, by=boss, reason="Stop.")

    got = at_once(cancel, cancel)

    assert sum(isinstance(lost, Stale) for lost in got) == 1
    assert Transition.objects.filter(run=run, to_state="aborted").count() == 1


def test_a_driver_whose_lease_was_taken_over_records_nothing(boss):
    run = start(agent=make_agent(), by=boss, task="Post it")
    with provider(LETTER, LETTER, check(0.9), text("Done.")):
        take(run, "before:1:a")
        held = engine.open(run.pk, "before:1:a")
        work = engine.proceed(held)
        assert isinstance(work, Work)
        outcome = work.perform()

        run = advance(run, steps=1, owner="after:2:b")
        with pytest.raises(LeaseLost):
            engine.record(held, outcome)
        run = settle(run, owner="after:2:b")

    numbers = list(run.steps.values_list("number", flat=True))
    assert run.state == "completed"
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(acts.acts()) == 1


def test_of_two_drivers_that_record_the_same_step_one_loses(boss):
    run = start(agent=make_agent(), by=boss, task="Work")
    with provider(*[calls(("echo", {"text": "x"}))] * 2):
        take(run)
        helds = [engine.open(run.pk, "test:1:driver") for _ in range(2)]
        works = [engine.proceed(helds[0])]
        helds[1] = engine.open(run.pk, "test:1:driver")
        works.append(engine.proceed(helds[1]))
        outcomes = [work.perform() for work in works]  # type: ignore[union-attr]

        got = at_once(
            lambda: engine.record(helds[0], outcomes[0]),
            lambda: engine.record(helds[1], outcomes[1]),
        )

    run.refresh_from_db()
    assert sum(isinstance(lost, LeaseLost) for lost in got) == 1
    assert (run.sequence, run.steps.count(), run.steps_used) == (2, 2, 1)


def test_an_act_is_begun_by_one_of_two_drivers(boss):
    run = start(agent=make_agent(), by=boss, task="Post it")
    with provider(LETTER, check(0.9)):
        run = advance(run, steps=2)
        helds, works = [], []
        for owner in ("one:1:a", "two:2:b"):
            take(run, owner)
            helds.append(engine.open(run.pk, owner))
            works.append(engine.proceed(helds[-1]))

        got = at_once(
            lambda: engine.begin(helds[0], works[0]),  # type: ignore[arg-type]
            lambda: engine.begin(helds[1], works[1]),  # type: ignore[arg-type]
        )

    assert isinstance(got[0], LeaseLost)
    assert isinstance(got[1], Work)
    assert Effect.objects.get().owner == "two:2:b"


def test_what_may_still_happen_is_not_said_not_to_have_happened(
    boss, settings, tmp_path
):
    """The driver that started the act fell silent, and is not known to be dead."""
    settings.VAR_DIR = tmp_path
    run = start(agent=make_agent(), by=boss, task="Post it")
    silent = leases.begin(1)
    slot = slots.take(1)
    with provider(calls(("register", {"what": "x"})), check(0.9)):
        run = advance(run, steps=2)
        take(run, silent)
        held = engine.open(run.pk, silent)
        work = engine.begin(held, engine.proceed(held))  # type: ignore[arg-type]
        assert isinstance(work, Work)
        run = settle(run)
    assert slot
    slot.free()

    assert run.park_reason == "outcome_unknown"
    assert "may still be alive" in park_of(run)["question"]
    assert acts.acts() == []


@pytest.fixture
def taken_over(boss):
    """A run whose act was done by a driver that had lost it meanwhile: the driver's
    view of it, the outcome that it has in hand, and the run, which asks a person."""
    run = start(agent=make_agent(), by=boss, task="Post it")
    with provider(LETTER, check(0.9)):
        run = advance(run, steps=2)
        take(run, "frozen:1:a")
        held = engine.open(run.pk, "frozen:1:a")
        work = engine.begin(held, engine.proceed(held))  # type: ignore[arg-type]
        assert isinstance(work, Work)
        outcome = work.perform()
        run = settle(run, owner="after:2:b")
    assert run.park_reason == "outcome_unknown"
    return held, outcome, run


def test_what_a_driver_did_that_had_lost_its_run_is_evidence(taken_over):
    held, outcome, run = taken_over
    before = run.sequence, run.steps_used, run.park

    with pytest.raises(LeaseLost):
        engine.record(held, outcome)

    run.refresh_from_db()
    effect = Effect.objects.get()
    assert (run.sequence, run.steps_used, run.park) == before
    assert (effect.status, effect.result) == ("done", {"posted": "x"})


def test_it_is_not_done_again_even_if_a_person_says_that_it_did_not_happen(
    boss, taken_over
):
    held, outcome, run = taken_over
    with pytest.raises(LeaseLost):
        engine.record(held, outcome)

    with transaction.atomic():
        verdict = Verdict(V.OUTCOME, happened=False)
        deciding.resume(run.pk, verdict, sequence=run.sequence, by=boss)
    with provider(text("Done.")):
        run = settle(run)

    assert run.state == "completed"
    assert len(acts.acts()) == 1


def test_it_is_evidence_too_where_the_database_was_away_at_the_first_try(taken_over):
    held, outcome, _ = taken_over
    with pytest.raises(LeaseLost):
        engine.record(held, outcome)
    Effect.objects.update(status="unknown", result=None)

    with pytest.raises(LeaseLost):
        engine.reopen(held)

    assert Effect.objects.get().status == "done"
