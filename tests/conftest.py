"""One test run has one database: `--db sqlite` (the default) or `--db postgres`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import databases

pytest_plugins = ["tests.support.fixtures"]

_open = contextlib.ExitStack()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--db",
        choices=databases.KINDS,
        default=os.environ.get("AGENTOPS_TEST_DB", "sqlite"),
        help="the database of this run; postgres is DATABASE_URL, or started here",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Start the server once; workers of pytest-xdist get its address and use it."""
    if _is_worker(config):
        return
    os.environ.pop(databases.ENVIRONMENT, None)
    if config.getoption("--db") == "postgres":
        url = _open.enter_context(databases.postgres_url())
        os.environ[databases.ENVIRONMENT] = url
        databases.use(url)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _is_worker(config):
        _open.close()


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.getoption('--db')}"


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    for item in items:
        _skip_what_was_not_asked_for(item, config)
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))  # said in the report


def _skip_what_was_not_asked_for(item: pytest.Item, config: pytest.Config) -> None:
    if item.get_closest_marker("postgres") and config.getoption("--db") == "sqlite":
        item.add_marker(pytest.mark.skip(reason="needs PostgreSQL (--db postgres)"))
    if _is_the_same_on_any(item) and config.getoption("--db") != "sqlite":
        item.add_marker(
            pytest.mark.skip(reason="the same on any database (--db sqlite)")
        )
    if _is_browser_alone(item) and config.getoption("--db") != "sqlite":
        item.add_marker(pytest.mark.skip(reason="the page is the same on SQLite"))
    if item.get_closest_marker("bench") and "bench" not in config.getoption("-m"):
        item.add_marker(pytest.mark.skip(reason="measures (-m bench)"))


def _is_the_same_on_any(item: pytest.Item) -> bool:
    """Marked so, or seen by its marks and fixtures, which ask for no database."""
    marks = {mark.name for mark in item.iter_markers()}
    if "once" in marks:
        return True
    fixtures = set(getattr(item, "fixturenames", ()))
    return not (marks & _ASKING or fixtures & _DATABASES)


_ASKING = {"django_db", "process", "browser", "postgres"}
_DATABASES = {"db", "transactional_db", "django_db_blocker", "live_project"}


def _is_browser_alone(item: pytest.Item) -> bool:
    """Stories that kill workers, too, depend on the database; the other pages do not."""
    marks = {mark.name for mark in item.iter_markers()}
    return "browser" in marks and "process" not in marks


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """What pytest-django makes, but transactional tests leave it as it was.

    Gives the URL of a copy of it, which nobody uses; "" if no test asks for any.
    """
    from tests.support.flush import keep_what_migrations_made

    if not databases.is_made():
        yield ""
        return
    with contextlib.ExitStack() as stack:
        with django_db_blocker.unblock():
            keep_what_migrations_made()
            folder = tmp_path_factory.mktemp("untouched")
            untouched = stack.enter_context(databases.copied(folder))
        yield untouched


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
