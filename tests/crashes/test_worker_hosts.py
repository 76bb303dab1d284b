"""Two worker trees on one database, as on two hosts: each run is one's at a time."""

from __future__ import annotations

import signal

import pytest

from tests.support import processes
from tests.support.fleet import assert_well, assert_whole, fleet, wait_until_finished
from tests.support.wait import wait_until

pytestmark = [pytest.mark.process, pytest.mark.postgres]

RUNS = 16
TURNS = 3
CALLS = RUNS * (TURNS + 1)


def test_two_hosts_share_runs_and_do_nothing_twice(live_project, tmp_path):
    with fleet(live_project, number=TURNS) as made:
        one = made.project(AGENTOPS_THREADS="3")
        two = made.beside(one, tmp_path / "two")

        made.start_runs(RUNS)

        wait_until_finished()
        assert_whole()
        assert len(made.model.requests) == CALLS
        assert "completed after" in one.log("worker")
        assert "completed after" in two.log("worker")
        assert_well(one)
        assert_well(two)


def test_a_host_that_freezes_loses_its_runs_and_says_nothing_more(
    live_project, tmp_path
):
    with fleet(live_project, number=TURNS, delay_s=0.3) as made:
        frozen = made.project(AGENTOPS_LEASE_S="3", AGENTOPS_HEARTBEAT_S="1")
        made.start_runs(RUNS)
        wait_until(lambda: len(made.model.requests) >= RUNS, what="calls in flight")

        processes.kill(frozen.tree("worker"), signal.SIGSTOP)
        other = made.beside(frozen, tmp_path / "other")
        wait_until_finished()
        processes.kill(frozen.tree("worker"), signal.SIGCONT)

        made.start_runs(2)
        wait_until_finished()
        assert_whole()
        assert_well(frozen)
        assert_well(other)
