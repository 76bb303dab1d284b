"""kill -9 of any process of a worker: all runs end, nothing is left behind."""

from __future__ import annotations

import signal

import pytest

from tests.support.fleet import (
    Roles,
    assert_well,
    assert_whole,
    fleet,
    unfinished,
    wait_until_finished,
)
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

RUNS = 12
TURNS = 3
CALLS = RUNS * (TURNS + 1)


@pytest.fixture
def loaded(live_project):
    """A tree with runs under way, each of them waiting for the model."""
    with fleet(live_project, number=TURNS) as made:
        project = made.project()
        roles = Roles.at_work(project)
        made.start_runs(RUNS)
        wait_until(lambda: len(made.model.requests) >= RUNS, what="calls in flight")
        assert unfinished()
        yield made, project, roles


def test_a_driver_is_killed_at_work(loaded):
    made, project, roles = loaded

    roles.driving[0].kill()

    wait_until_finished()
    assert_whole()
    assert len(made.model.requests) <= CALLS + RUNS
    assert_well(project)


def test_each_other_process_is_killed_in_turn(loaded):
    made, project, roles = loaded

    for role in ["idle worker", "monitor", "pusher", "sentinel"]:
        roles.of_name(role).kill()
        made.start_runs(2)
        wait_until_finished()
        roles = Roles.at_work(project)

    assert_whole()
    assert_well(project)


@pytest.mark.parametrize("victim", ["main", "the whole tree"])
def test_main_is_killed_and_started_again(loaded, victim):
    _, project, roles = loaded

    if victim == "main":
        roles.main.kill()
        wait_until(lambda: not project.survivors(), what="no orphans")
    else:
        project.kill_tree("worker", signal.SIGKILL)
    project.start_worker()

    wait_until_finished()
    assert_whole()
    assert_well(project)
