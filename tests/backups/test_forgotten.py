"""A backup is restored and nobody says so: worker, probes and pages do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs import lineage
from runs.models import Lineage
from tests.backups.copies import back_up, restored
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

LONG_S = 60.0


def test_a_restore_that_nobody_told_of_is_told_of(live_project, tmp_path):
    project = live_project(AGENTOPS_HEARTBEAT_S="0.3")
    wait_until(lambda: _mark() > 1, timeout_s=LONG_S, what="beats")
    backup, known = back_up(project.database_url, tmp_path / "backup"), _mark()
    wait_until(lambda: _last(project) > known, timeout_s=LONG_S, what="later beats")
    for name in ("worker", "web"):
        project.kill_tree(name)

    with restored(backup, tmp_path) as url:
        project.env["DATABASE_URL"] = url
        project.start_web()
        project.launch_worker()
        wait_until(
            lambda: "this database is older" in project.log("worker"),
            timeout_s=LONG_S,
            what="the warning in the log",
        )
        assert project.status("/readyz") == 503
        project.kill_tree("worker")

        project.manage("restored")
        project.start_worker()

        assert project.status("/readyz") == 200
        project.stop()


def _mark() -> int:
    return Lineage.objects.values_list("mark", flat=True).first() or 0


def _last(project: Any) -> int:
    """What the host remembers of the only database it has seen."""
    (mark,) = json.loads((project.folder / "var" / lineage.FILE).read_text()).values()
    return int(mark)
