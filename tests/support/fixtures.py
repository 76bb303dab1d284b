"""Fixtures for every test."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from agentops import clock
from agentops.conf import Product, product
from tests.support import databases
from tests.support.project import LiveProject
from tests.support.services import CHILD, HERE, Services, served

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from playwright.sync_api import Browser


@pytest.fixture
def advance_clock() -> Iterator[Callable[[float], None]]:
    """Call it with seconds: from then on it is that much later, for this test."""
    with contextlib.ExitStack() as stack:
        yield lambda seconds: stack.enter_context(clock.advance(seconds))


@pytest.fixture
def configured(settings: Any) -> Callable[..., Product]:
    """Call it with the fields of `Product` that this test wants otherwise."""

    def change(**fields: Any) -> Product:
        settings.AGENTOPS = replace(product(), **fields)
        return product()

    return change


# People


@dataclass(frozen=True)
class People:
    """One of each kind, and a second submitter and operator for questions of access.

    All have the password "let me in, please".
    """

    submitter: User
    operator: User
    admin: User
    other_submitter: User
    other_operator: User


PASSWORD = "let me in, please"


@pytest.fixture
def people(db: None) -> People:
    """Named people in the three groups; the admin may use Django's admin too."""
    return People(
        submitter=_person("submitter", "submitter"),
        operator=_person("operator", "operator"),
        admin=_person("admin", "admin", is_staff=True),
        other_submitter=_person("other-submitter", "submitter"),
        other_operator=_person("other-operator", "operator"),
    )


def _person(username: str, role: str, **fields: Any) -> User:
    from django.contrib.auth.models import Group, User

    person = User.objects.create_user(
        username, f"{username}@example.com", PASSWORD, **fields
    )
    person.groups.add(Group.objects.get(name__istartswith=role))
    return person


# The real thing, in processes


@pytest.fixture(scope="session")
def migrated_database(
    django_db_setup: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A migrated database that nobody uses: live projects begin as its copy."""
    if django_db_setup:
        yield django_db_setup
        return
    folder = tmp_path_factory.mktemp("template")
    with databases.fresh(folder) as url:
        project = LiveProject(folder, url)
        try:
            project.manage("migrate", "--verbosity", "0")
        finally:
            project.stop()
        yield url


@pytest.fixture
def live_project(
    tmp_path: Path, migrated_database: str, django_db_blocker: Any
) -> Iterator[Callable[..., LiveProject]]:
    """Call it to run the product; `web` and `worker` say what to start.

    Other keywords become variables of its environment. The ORM of the test
    works on the database of the newest project. All is gone after the test.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(django_db_blocker.unblock())

        def make(*, web: bool = True, worker: bool = True, **env: str) -> LiveProject:
            folder = tmp_path / f"live-{len(list(tmp_path.iterdir()))}"
            folder.mkdir()
            url = stack.enter_context(databases.fresh(folder, migrated_database))
            project = LiveProject(folder, url, env)
            stack.callback(project.stop)
            stack.enter_context(databases.rows_of(url))
            if web:
                project.start_web()
            if worker:
                project.start_worker()
            return project

        yield make


# Services


@pytest.fixture
def services(
    configured: Callable[..., Product], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Services]:
    """A loopback server in the place of Slack and the like, and for webhooks."""
    from reviews.notifiers import gateway

    configured(notify_private_hosts="127.0.0.1")
    monkeypatch.setattr(gateway, "CHILD", CHILD)
    with served() as here:
        monkeypatch.setenv(HERE, here.url)
        yield here


# A browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Headless Chromium; the test is skipped, with the reason, if there is none."""
    from tests.support.browser import launched

    with launched() as browser:
        yield browser
