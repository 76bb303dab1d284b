"""How soon a started run makes its first call: `pytest -m bench -s` prints it."""

from __future__ import annotations

import time

import pytest

from tests.support.fleet import Fleet, fleet, living_drivers, wait_until_finished
from tests.support.wait import wait_until

pytestmark = [pytest.mark.process, pytest.mark.bench]

TIMES = 6


def first_call(made: Fleet) -> float:
    """Seconds from the commit of a run to its first request to the model."""
    asked = len(made.model.requests)
    made.start_runs(1)
    began = time.monotonic()
    wait_until(lambda: len(made.model.requests) > asked, pause_s=0.002)
    took = time.monotonic() - began
    wait_until_finished()
    return took


def is_idle() -> bool:
    return not living_drivers().exists()


def test_how_soon_a_worker_goes_on(live_project):
    with fleet(live_project, number=0, delay_s=0) as made:
        made.project()
        wait_until(lambda: not is_idle(), what="a driver")
        at_work = [first_call(made) for _ in range(TIMES)]
        idle = []
        for _ in range(TIMES):
            wait_until(is_idle, what="idleness")
            idle.append(first_call(made))

    for name, waits in (("while a driver looks on", at_work), ("from idle", idle)):
        print(f"{name}: " + ", ".join(f"{wait * 1000:.0f}" for wait in waits) + " ms")
