"""The database goes away and comes back: nothing is lost, nothing done twice."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection

from tests.support import databases
from tests.support.fleet import assert_well, assert_whole, fleet, wait_until_finished
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

RUNS = 8
TURNS = 3


@contextmanager
def outage(url):
    """As clients see a server that is down: no connection stays, none is made."""
    name = urlsplit(url).path.lstrip("/")
    connection.close()
    with psycopg.connect(os.environ[databases.ENVIRONMENT], autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false'.encode())
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            [name],
        )
        yield
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true'.encode())


@pytest.mark.postgres
def test_a_worker_waits_for_a_database_that_is_down_at_first(live_project):
    with fleet(live_project, number=1) as made:
        project = made.project(worker=False)
        with outage(project.database_url):
            project.launch_worker()
            wait_until(
                lambda: "the database does not answer" in project.log("worker"),
                what="a line about it",
            )

        made.start_runs(1)

        wait_until_finished()
        assert_well(project)


@pytest.mark.postgres
def test_runs_go_on_after_an_outage_and_no_answer_is_lost(live_project):
    with fleet(live_project, number=TURNS, delay_s=0.3) as made:
        project = made.project()
        made.start_runs(RUNS)
        wait_until(lambda: len(made.model.requests) >= RUNS, what="calls in flight")

        with outage(project.database_url):
            time.sleep(3)

        wait_until_finished()
        assert_whole()
        assert len(made.model.requests) == RUNS * (TURNS + 1)
        made.start_runs(1)
        wait_until_finished()
        assert_well(project)


def test_a_worker_waits_for_migrations(live_project, tmp_path):
    project = live_project(web=False, worker=False)
    project.env["DATABASE_URL"] = f"sqlite:///{tmp_path / 'empty.sqlite3'}"

    project.launch_worker()

    wait_until(
        lambda: "migrations are missing (manage.py migrate)" in project.log("worker"),
        what="a line about it",
    )
    assert project.terminate("worker") == 0
