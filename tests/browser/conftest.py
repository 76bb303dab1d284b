"""Two live projects with the sample agents and the demo's people, for all modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.browser.stage import Stage, staged
from tests.browser.story import Story
from tests.support.project import LiveProject

Stages = Callable[..., Stage]

ENV = {
    "AGENTOPS_DEMO": "1",
    "AGENTOPS_DEMO_LATENCY_S": "0.15",
    "AGENTOPS_NOTIFY_PRIVATE_HOSTS": "127.0.0.1",
}


@pytest.fixture
def desk(desk_stage: Stage, django_db_blocker: Any) -> Iterator[LiveProject]:
    """The web server alone: items are rows, and nobody takes their runs on."""
    with django_db_blocker.unblock(), desk_stage.used() as project:
        yield project


@pytest.fixture
def project(project_stage: Stage, django_db_blocker: Any) -> Iterator[LiveProject]:
    """Web server and worker run; the demo model takes 0.15 s for an answer."""
    with django_db_blocker.unblock(), project_stage.used() as project:
        yield project


@pytest.fixture
def told(project: LiveProject, project_stage: Stage) -> tuple[LiveProject, Story]:
    return project, project_stage.tell()


@pytest.fixture(scope="package")
def desk_stage(stages: Stages) -> Stage:
    return stages(worker=False)


@pytest.fixture(scope="package")
def project_stage(stages: Stages) -> Stage:
    return stages(worker=True)


@pytest.fixture(scope="package")
def stages(
    tmp_path_factory: Any, migrated_database: str, django_db_blocker: Any
) -> Iterator[Stages]:
    """Call it for a stage, which stays until the last of these tests."""
    with ExitStack() as stack:

        def stage(*, worker: bool) -> Stage:
            folder = tmp_path_factory.mktemp("stage")
            made = staged(folder, migrated_database, ENV, worker=worker)
            with django_db_blocker.unblock():
                return stack.enter_context(made)

        yield stage
