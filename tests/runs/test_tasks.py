"""The tasks: what they do without work, and the sweep as the last net."""

from __future__ import annotations

import json

import pytest

from agentops import clock
from runs import leases, slots, tasks, timers
from runs.models import Driver
from tests.support.driving import sent
from tests.support.rows import make_run

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("quick_driver"),
]


@pytest.fixture(autouse=True)
def no_timers(monkeypatch):
    monkeypatch.setattr(timers, "_timers", {})


def test_a_driver_without_work_leaves_with_a_plain_answer():
    done = tasks.drive()

    assert done == {"slot": 1, "reason": "nothing near", "runs": 0, "steps": 0}
    assert json.loads(json.dumps(done)) == done
    assert Driver.objects.get().ended_at


def test_without_a_free_slot_there_is_nothing_to_do():
    for number in slots.of_drivers():
        slots.take(number)

    assert tasks.drive() == tasks.NO_DRIVER
    assert not Driver.objects.exists()


def test_who_runs_suspects_leaves_the_drivers_their_slots():
    done = tasks.drive_alone()

    assert done["slot"] not in [*slots.of_drivers(), slots.MAIN]


def test_the_sweep_wakes_a_driver_for_what_is_near():
    make_run(wake_at=clock.later(65))

    assert tasks.sweep() == {"woken": 1, "timers": 0}
    assert sent() == ["runs.tasks.drive"]


def test_the_sweep_leaves_it_to_a_driver_that_beats():
    make_run()
    leases.begin(1)

    assert tasks.sweep()["woken"] == 0


def test_an_idle_worker_is_no_driver():
    make_run()
    leases.begin(slots.MAIN)

    assert tasks.sweep()["woken"] == 1


def test_the_sweep_wakes_nobody_when_all_is_quiet():
    assert tasks.sweep() == {"woken": 0, "timers": 0}
    assert sent() == []


def test_the_sweep_sends_what_timers_have_due():
    timers.register("app.tasks.due", lambda: True)

    assert tasks.sweep()["timers"] == 1
    assert sent() == ["app.tasks.due"]
