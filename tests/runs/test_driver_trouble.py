"""Trouble while driving: with one run, with the database, with a result."""

from __future__ import annotations

import threading
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django_q.exceptions import TimeoutException  # noqa: TID251

from runs import driver, leases
from runs.errors import LeaseLost
from runs.models import Run
from runs.work import Work
from tests.support.driving import drive, sent, sequences
from tests.support.engine import EngineDouble
from tests.support.rows import make_run
from tests.support.wait import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("quick_driver"),
]


@pytest.mark.parametrize("where", ["open", "proceed", "begin", "record"])
def test_trouble_with_one_run_is_not_the_others(where):
    for _ in range(3):
        make_run()

    drive(EngineDouble(trouble={where: [ValueError("a bug")]}))

    assert sequences() == [2, 2, 2]


def test_a_run_that_is_always_trouble_becomes_a_suspect():
    make_run()
    engine = EngineDouble(trouble={"open": [ValueError("a bug")] * 9})

    drive(engine, until=lambda: "runs.tasks.drive_alone" in sent())

    assert Run.objects.get().claims == leases.SUSPECT_AFTER
    assert engine.count("open") == leases.SUSPECT_AFTER


def test_a_lost_lease_drops_the_run_quietly(caplog):
    make_run()

    drive(EngineDouble(trouble={"record": [LeaseLost()]}))

    assert sequences() == [2]
    assert "ERROR" not in caplog.text


@pytest.mark.parametrize("where", ["open", "proceed", "begin"])
def test_a_lost_database_costs_no_run(where):
    make_run()

    drive(EngineDouble(trouble={where: [OperationalError("gone")]}))

    assert sequences() == [2]


def test_a_claim_whose_answer_is_lost_keeps_no_run(monkeypatch):
    make_run()
    claim, claimed = leases.claim, []

    def lose_the_first_answer(*args, **options):
        claimed.append(claim(*args, **options))
        if len(claimed) == 1:
            raise OperationalError("gone")
        return claimed[-1]

    monkeypatch.setattr(leases, "claim", lose_the_first_answer)
    drive(EngineDouble())

    assert len(claimed[0]) == 1
    assert sequences() == [2]


def test_what_was_done_is_recorded_once_the_database_is_back():
    make_run()
    acts: list[int] = []
    engine = EngineDouble(
        steps=1,
        act=lambda: acts.append(1),
        trouble={"record": [OperationalError("gone")] * 4},
    )

    drive(engine)

    assert sequences() == [1]
    assert len(acts) == 1


def test_right_after_an_outage_it_takes_no_run_over(monkeypatch):
    """Leases may have run out while nobody could keep them."""
    make_run()
    claim, seen = leases.claim, []

    def watched(owner, limit, *, takes_over):
        seen.append(takes_over)
        return claim(owner, limit, takes_over=takes_over)

    monkeypatch.setattr(leases, "claim", watched)

    drive(EngineDouble(trouble={"open": [OperationalError("gone")]}))

    assert seen[:2] == [True, False]
    assert sequences() == [2]


def test_a_result_that_a_working_database_refuses_is_given_up():
    make_run()
    acts: list[int] = []
    engine = EngineDouble(
        steps=1,
        act=lambda: acts.append(1),
        trouble={"record": [OperationalError("refused")] * driver.RECORD_TRIES},
    )

    drive(engine)

    assert sequences() == [1]
    assert len(acts) == 2


def test_a_result_is_kept_as_long_as_the_database_takes_no_writes(monkeypatch):
    """It answers all the while: its disk is full."""
    make_run()
    acts: list[int] = []
    full = [OperationalError("full")] * (driver.RECORD_TRIES + 2)
    monkeypatch.setattr(leases, "stamp", Mock(side_effect=OperationalError("full")))

    drive(
        EngineDouble(
            steps=1, act=lambda: acts.append(1), trouble={"record": list(full)}
        ),
        within_s=60,
    )

    assert sequences() == [1]
    assert len(acts) == 1


def test_an_act_that_raises_is_dropped_and_tried_again(monkeypatch):
    make_run()
    perform = Work.perform
    raised: list[Exception] = []

    def raise_once(work):
        if not raised:
            raised.append(ValueError("a bug"))
            raise raised[0]
        return perform(work)

    monkeypatch.setattr(Work, "perform", raise_once)

    drive(EngineDouble())

    assert sequences() == [2]


def test_a_task_that_is_timed_out_ends_and_keeps_no_lease(configured):
    configured(poll_s=0.01, lease_s=0.4, heartbeat_s=0.1, threads=4)
    make_run()
    end = threading.Event()

    def out_of_time():
        if Run.objects.filter(lease_owner="").exists():
            return False
        raise TimeoutException

    with pytest.raises(TimeoutException):
        drive(EngineDouble(act=lambda: end.wait(10)), until=out_of_time)

    assert wait_until(lambda: leases.claim("another", 1))
    end.set()


def test_an_act_that_hangs_is_given_up_while_the_driver_goes_on(monkeypatch):
    make_run()
    monkeypatch.setattr(driver, "GRACE_S", 0.1)
    hanging, acts = threading.Event(), []

    def act() -> None:
        acts.append(1)
        if len(acts) == 1:
            hanging.wait(20)

    drive(EngineDouble(steps=1, act=act, deadline_s=0.2))
    hanging.set()

    assert (sequences(), len(acts)) == ([1], 2)
