"""The database goes away and comes back: nothing is lost, nothing done twice.

A PostgreSQL of these tests' own, which is stopped, restarted and killed for real.
"""

from __future__ import annotations

import time

import pytest
from django.db import connection

from tests.support import databases, postgres
from tests.support.fleet import (
    Roles,
    assert_well,
    assert_whole,
    fleet,
    wait_until_finished,
)
from tests.support.project import LiveProject
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

RUNS = 8
TURNS = 3
LONG_S = 60.0


@pytest.fixture(scope="module")
def server():
    with postgres.own() as server:
        yield server


@pytest.fixture(scope="module")
def migrated_database(server, tmp_path_factory):
    """Live projects of this module begin as copies of one on its own server."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(databases.ENVIRONMENT, server.url)
        with databases.fresh(folder) as url:
            project = LiveProject(folder, url)
            project.manage("migrate", "--verbosity", "0")
            project.stop()
            yield url


@pytest.mark.postgres
def test_d01_a_worker_that_is_started_before_postgresql_waits_for_it(
    live_project, server
):
    with fleet(live_project, number=1) as made:
        project = made.project(worker=False)
        server.kill()

        project.launch_worker()
        wait_until(
            lambda: "the database does not answer" in project.log("worker"),
            timeout_s=LONG_S,
            what="a line about it",
        )
        server.start()
        connection.close()  # ours is gone as well

        made.start_runs(1)
        wait_until_finished(LONG_S)
        assert_well(project)


def restart(server):
    server.restart("fast")


def restart_at_once(server):
    server.restart("immediate")


def outage(server):
    server.kill()
    time.sleep(3)
    server.start()


@pytest.mark.postgres
@pytest.mark.parametrize("trouble", [restart, restart_at_once, outage])
def test_d01_runs_go_on_after_a_restart_and_no_answer_is_lost(
    live_project, server, trouble
):
    with fleet(live_project, number=TURNS, delay_s=0.3) as made:
        # An outage outlasts the leases: they have run out when all come back at once.
        project = made.project(AGENTOPS_LEASE_S="2", AGENTOPS_HEARTBEAT_S="0.5")
        Roles.at_work(project)
        made.start_runs(RUNS)
        wait_until(lambda: len(made.model.requests) >= RUNS, what="calls in flight")

        trouble(server)
        connection.close()  # ours is gone as well

        wait_until_finished(LONG_S)
        assert_whole()
        assert len(made.model.requests) == RUNS * (TURNS + 1)
        made.start_runs(1)
        wait_until_finished(LONG_S)
        assert_well(project)
