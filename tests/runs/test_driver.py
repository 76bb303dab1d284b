"""The driver: many runs at once, trouble with one of them, and how it leaves."""

from __future__ import annotations

import threading
import time

import pytest

from agentops import clock
from runs import driver, leases, slots
from runs.lone import LoneDriver
from runs.models import Driver as Row
from runs.models import Run
from tests.support.driving import drive, sent, sequences
from tests.support.engine import EngineDouble
from tests.support.rows import make_run
from tests.support.wait import HANGS_S, cut_short, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("quick_driver"),
]


# Driving


def test_it_takes_due_runs_to_their_end():
    for _ in range(3):
        make_run()

    done = drive(EngineDouble(steps=4))

    assert sequences() == [4, 4, 4]
    assert done == {"slot": 1, "reason": "nothing near", "runs": 3, "steps": 12}
    assert not Run.objects.exclude(lease_owner="").exists()


def test_acts_run_at_the_same_time_and_apart_from_the_loop():
    all_there = threading.Barrier(10)
    acting = set()

    def act():
        acting.add(threading.get_ident())
        all_there.wait(10)

    for _ in range(10):
        make_run()
    engine = EngineDouble(steps=1, act=act)

    drive(engine)

    assert sequences() == [1] * 10
    assert engine.loop_threads == {threading.get_ident()}
    assert threading.get_ident() not in acting


def test_it_holds_no_more_than_its_threads(configured):
    configured(threads=2, poll_s=0.01)
    now, most, lock = [0], [0], threading.Lock()

    def act():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with lock:
            now[0] -= 1

    for _ in range(6):
        make_run()

    drive(EngineDouble(steps=2, act=act))

    assert sequences() == [2] * 6
    assert most == [2]


def test_a_run_that_starts_meanwhile_is_taken_along():
    make_run()
    started: list[Run] = []

    def act():
        if not started:
            started.append(make_run())

    drive(EngineDouble(steps=1, act=act))

    assert sequences() == [1, 1]


def test_what_waits_for_a_retry_is_waited_for():
    make_run(wake_at=clock.later(0.5))

    drive(EngineDouble(steps=1))

    assert sequences() == [1]


def test_a_lease_is_kept_however_long_an_act_takes(configured):
    configured(poll_s=0.01, lease_s=1.5, heartbeat_s=0.1)
    make_run()
    stolen = []

    def act():
        for _ in range(20):
            time.sleep(0.1)
            stolen.extend(leases.claim("thief", 1))

    drive(EngineDouble(steps=1, act=act))

    assert stolen == []
    assert sequences() == [1]


def test_an_act_in_flight_counts_when_its_run_is_lost_and_claimed_again():
    run = make_run()
    engine = EngineDouble(steps=1)

    def act():
        if not engine.count("rejoin"):
            Run.objects.update(lease_owner="", lease_until=None)
            wait_until(lambda: engine.count("rejoin"))

    engine.act = act
    drive(engine)

    assert sequences() == [1]
    assert engine.calls.count(("begin", run.pk)) == 1


# Leaving


def test_it_stays_while_something_is_near():
    make_run(wake_at=clock.later(60))
    began = time.monotonic()

    done = drive(EngineDouble(), until=lambda: time.monotonic() - began > 1)

    assert done["reason"] == "drain"
    assert "runs.tasks.drive" in sent()


def test_it_stays_while_another_holds_a_run():
    make_run()
    leases.claim("another", 1)
    began = time.monotonic()

    done = drive(EngineDouble(), until=lambda: time.monotonic() - began > 1)

    assert done["reason"] == "drain"


def test_it_leaves_no_successor_when_all_is_done():
    make_run()

    drive(EngineDouble())

    assert sent() == []
    assert Row.objects.get().ended_at
    assert slots.is_free(1)


def test_after_its_slice_it_hands_over(configured):
    configured(poll_s=0.01, drive_slice_s=0.3, threads=20)
    make_run()

    done = drive(EngineDouble(steps=1000, act=lambda: time.sleep(0.02)))

    assert done["reason"] == "slice"
    assert sent() == ["runs.tasks.drive"]
    assert leases.claim("successor", 1)
    assert Run.objects.get().claims == 1


def test_a_drain_begins_no_step_and_records_what_ends_in_time():
    make_run()
    acting = threading.Event()

    def act():
        acting.set()
        time.sleep(0.05)

    engine = EngineDouble(steps=5, act=act)

    drive(engine, until=acting.is_set)

    assert sequences() == [1]
    assert engine.count("begin") == 1
    run = Run.objects.get()
    assert (run.lease_owner, run.claims) == ("", 0)


def test_a_drain_drops_what_is_safe_to_repeat():
    make_run()
    acting, end = threading.Event(), threading.Event()

    def act():
        acting.set()
        end.wait(HANGS_S)

    with cut_short():
        drive(EngineDouble(act=act), until=acting.is_set)
    end.set()

    assert sequences() == [0]
    assert leases.claim("another", 1)


def test_a_drain_waits_for_what_is_not():
    make_run()
    acting = threading.Event()

    def act():
        acting.set()
        time.sleep(0.6)

    drive(EngineDouble(act=act, is_droppable=False), until=acting.is_set)

    assert sequences() == [1]
    assert Row.objects.get().ended_at


def test_who_gives_up_on_an_act_is_not_proved_dead(monkeypatch):
    monkeypatch.setattr(driver, "GRACE_S", 0.1)
    make_run()
    acting, end = threading.Event(), threading.Event()

    def act():
        acting.set()
        end.wait(10)

    engine = EngineDouble(act=act, is_droppable=False, deadline_s=0.1)
    drive(engine, until=acting.is_set)
    is_dead = leases.is_dead(Row.objects.get().owner)
    end.set()

    assert not is_dead
    assert Run.objects.get().claims == 1


# Looking around


def test_suspects_are_sent_on_to_run_alone():
    make_run(claims=2)

    drive(EngineDouble(), until=lambda: "runs.tasks.drive_alone" in sent())

    assert sequences() == [0]


def test_poison_is_parked():
    run = make_run(claims=5, claims_alone=3)
    engine = EngineDouble()

    drive(engine)

    assert engine.calls == [("park_poison", run.pk)]


def test_suspects_run_one_at_a_time_for_one_step():
    for _ in range(3):
        make_run(claims=2)
    now, most = [0], [0]

    def act():
        now[0] += 1
        most[0] = max(most[0], now[0])
        time.sleep(0.02)
        now[0] -= 1

    drive(EngineDouble(steps=5, act=act), kind=LoneDriver)

    assert sequences() == [1, 1, 1]
    assert most == [1]
    assert len(leases.claim("a usual driver", 5)) == 3


def test_a_drained_suspect_stays_one():
    make_run(claims=2)
    acting, end = threading.Event(), threading.Event()

    def act():
        acting.set()
        end.wait(10)

    drive(EngineDouble(act=act), kind=LoneDriver, until=acting.is_set)
    end.set()

    run = Run.objects.get()
    assert (run.claims_alone, run.lease_owner) == (0, "")
    assert run.claims >= leases.SUSPECT_AFTER
    assert sent() == ["runs.tasks.drive_alone"]
