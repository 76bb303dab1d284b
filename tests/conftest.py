"""One test run has one database: `--db sqlite` (the default) or `--db postgres`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from agentops import clock
from agentops.conf import Product, product
from tests.support import databases

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
    is_worker = hasattr(config, "workerinput")
    if config.getoption("--db") == "postgres" and not is_worker:
        url = _open.enter_context(databases.postgres_url())
        os.environ[databases.ENVIRONMENT] = url
        databases.use(url)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        _open.close()


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.getoption('--db')}"


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if config.getoption("--db") == "postgres":
        return
    for item in items:
        if item.get_closest_marker("postgres"):
            item.add_marker(pytest.mark.skip(reason="needs PostgreSQL (--db postgres)"))


@pytest.fixture
def advance_clock() -> Iterator[Callable[[float], None]]:
    """Call it with seconds: from then on it is that much later, for this test."""
    with contextlib.ExitStack() as stack:
        yield lambda seconds: stack.enter_context(clock.advance(seconds))


@pytest.fixture
def configured(settings: Any) -> Callable[..., Product]:
    """Call it with fields of `Product` that this test wants otherwise."""

    def change(**fields: Any) -> Product:
        settings.AGENTOPS = replace(product(), **fields)
        return product()

    return change
