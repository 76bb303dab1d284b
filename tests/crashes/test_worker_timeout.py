"""A driver that is over its task's time is ended by the queue, not by us."""

from __future__ import annotations

import pytest

from runs import queue
from tests.support.fleet import (
    Roles,
    assert_whole,
    fleet,
    living_drivers,
    turns,
    wait_until_finished,
)
from tests.support.replies import slow
from tests.support.wait import wait_until

pytestmark = [pytest.mark.process, pytest.mark.once]

RUNS = 4
LONG_S = 60.0
TOO_SHORT_S = 3


def test_d05_runs_of_a_task_that_is_timed_out_go_on_elsewhere(live_project):
    quick, asked = turns(2, 0.1), []

    def answer(body):
        asked.append(1)
        return slow(quick(body), 30.0) if len(asked) <= RUNS else quick(body)

    with fleet(live_project, answer=answer) as made:
        project = made.project(AGENTOPS_LEASE_S="3", AGENTOPS_HEARTBEAT_S="1")
        Roles.at_work(project)
        wait_until(
            lambda: not living_drivers().exists(), timeout_s=LONG_S, what="no drivers"
        )
        queue.enqueue(queue.DRIVE, timeout=TOO_SHORT_S)
        wait_until(living_drivers().exists, timeout_s=LONG_S, what="a driver")

        made.start_runs(RUNS)

        wait_until(
            lambda: "after timeout" in project.log("worker"),
            timeout_s=LONG_S,
            what="the end of the driver",
        )
        wait_until_finished(LONG_S)
        assert_whole()
        assert project.terminate("worker") == 0
        assert project.survivors() == []
