"""Live projects with the sample agents and the demo's people, one for each module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from tests.browser.stage import Stage, staged
from tests.support.project import LiveProject

Stages = Callable[..., AbstractContextManager[Stage]]

ENV = {
    "AGENTOPS_DEMO": "1",
    "AGENTOPS_DEMO_LATENCY_S": "0.15",
    "AGENTOPS_NOTIFY_PRIVATE_HOSTS": "127.0.0.1",
}


@pytest.fixture
def desk(desk_stage: Stage) -> Iterator[LiveProject]:
    """The web server alone: items are rows, and nobody takes their runs on."""
    yield desk_stage.project
    desk_stage.put_back()


@pytest.fixture
def project(project_stage: Stage) -> Iterator[LiveProject]:
    """Web server and worker run; the demo model takes 0.15 s for an answer."""
    yield project_stage.project
    project_stage.put_back()


@pytest.fixture(scope="module")
def desk_stage(stages: Stages) -> Iterator[Stage]:
    with stages(worker=False) as stage:
        yield stage


@pytest.fixture(scope="module")
def project_stage(stages: Stages) -> Iterator[Stage]:
    with stages(worker=True) as stage:
        yield stage


@pytest.fixture(scope="module")
def stages(
    tmp_path_factory: Any, migrated_database: str, django_db_blocker: Any
) -> Iterator[Stages]:
    """Call it for a stage; the database is open to the module meanwhile."""

    def stage(*, worker: bool) -> AbstractContextManager[Stage]:
        folder = tmp_path_factory.mktemp("stage")
        return staged(folder, migrated_database, ENV, worker=worker)

    with django_db_blocker.unblock():
        yield stage
