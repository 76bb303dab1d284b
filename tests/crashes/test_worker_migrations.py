"""A worker on a database that lacks migrations waits for them."""

from __future__ import annotations

import pytest

from tests.support.wait import wait_until

pytestmark = pytest.mark.process


def test_a_worker_waits_for_migrations(live_project, tmp_path):
    project = live_project(web=False, worker=False)
    project.env["DATABASE_URL"] = f"sqlite:///{tmp_path / 'empty.sqlite3'}"

    project.launch_worker()

    wait_until(
        lambda: "migrations are missing (manage.py migrate)" in project.log("worker"),
        what="a line about it",
    )
    assert project.terminate("worker") == 0
