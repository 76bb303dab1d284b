"""Stopping a worker: within seconds, without a repeated call, however it is asked."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

from runs import slots
from tests.support.fleet import (
    assert_well,
    assert_whole,
    fleet,
    unfinished,
    wait_until_finished,
)
from tests.support.project import LiveProject
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

RUNS = 8
TURNS = 5


def ended(project: LiveProject, timeout_s: float = 15.0) -> int:
    """The exit code of the worker's main process; nothing is left of its tree."""
    process: subprocess.Popen[bytes] = project.process("worker")
    code = process.wait(timeout_s)
    assert project.survivors() == []
    return code


def test_no_stop_repeats_a_call(live_project):
    with fleet(live_project, number=TURNS, delay_s=0.4) as made:
        project = made.project()
        made.start_runs(RUNS)

        wait_until(lambda: len(made.model.requests) >= RUNS, what="calls in flight")
        # To the whole group, as a careless supervisor does it.
        os.killpg(project.pid("worker"), signal.SIGTERM)
        assert ended(project) == 0
        assert unfinished() == RUNS
        project.start_worker()

        wait_until_finished()
        assert_whole()
        assert len(made.model.requests) == RUNS * (TURNS + 1)
        assert_well(project)


@pytest.mark.once
def test_a_drain_does_not_wait_for_a_slow_model(live_project):
    with fleet(live_project, number=1, delay_s=60) as made:
        project = made.project(AGENTOPS_DRAIN_S="0.5")
        made.start_runs(2)
        wait_until(lambda: len(made.model.requests) == 2, what="calls in flight")

        began = time.monotonic()
        code = project.terminate("worker")

        assert code == 0
        assert time.monotonic() - began < 10
        assert project.survivors() == []


@pytest.mark.once
def test_a_second_signal_stops_at_once(live_project):
    with fleet(live_project, number=1, delay_s=60) as made:
        project = made.project(AGENTOPS_DRAIN_S="60")
        made.start_runs(2)
        wait_until(lambda: len(made.model.requests) == 2, what="calls in flight")
        os.killpg(project.pid("worker"), signal.SIGINT)
        wait_until(lambda: "worker stops" in project.log("worker"), what="the drain")

        os.killpg(project.pid("worker"), signal.SIGINT)

        assert ended(project, 5) == 1
        assert "Traceback" not in project.log("worker")


@pytest.mark.once
def test_a_second_worker_in_the_same_folder_is_refused(live_project, settings):
    project = live_project(web=False, worker=False)
    settings.VAR_DIR = project.folder / "var"
    place = slots.take(slots.MAIN)
    assert place

    second = project.manage("worker", check=False)

    place.free()
    assert second.returncode == 1
    assert "Another worker runs with" in second.stderr
    assert "Traceback" not in second.stderr
