"""A run that kills its worker each time: it is parked, and spares the others."""

from __future__ import annotations

import pytest

from runs.models import Run
from runs.tools import registry
from tests.support.deadly.tools import die
from tests.support.fleet import assert_well, fleet, turns
from tests.support.replies import calls
from tests.support.wait import wait_until

pytestmark = [pytest.mark.process, pytest.mark.once]

BYSTANDERS = 4


def deadly_or_not(body):
    if "Die." in str(body["messages"]):
        return calls(("die", {}))
    return turns(3, 0.3)(body)


def test_a_deadly_run_is_parked_and_the_others_end(live_project):
    with fleet(live_project, answer=deadly_or_not) as made, registry.added(die):
        project = made.project(
            DJANGO_SETTINGS_MODULE="tests.support.deadly.settings",
            AGENTOPS_LEASE_S="2",
            AGENTOPS_HEARTBEAT_S="0.5",
        )
        made.start_runs(BYSTANDERS)
        (deadly,) = made.start_runs(1, task="Die.")

        def parked():
            return Run.objects.filter(pk=deadly.pk, park_reason="poison").exists()

        wait_until(parked, timeout_s=60, what="the park")
        done = Run.objects.filter(state="completed")
        wait_until(lambda: done.count() == BYSTANDERS, what="the others' end")
        assert_well(project)
