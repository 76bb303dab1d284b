"""Databases with three rows, for the tools to read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from runs.tools.perform import perform
from runs.tools.query_database import query_database
from tests.runs.tools.calls import context
from tests.support.databases import ENVIRONMENT

TABLE = "CREATE TABLE monthly_revenue (month text, amount numeric(12, 2), day date)"


ROWS = [
    ("2024-07", "1250000.10", "2024-07-31"),
    ("2024-08", "1380000.20", "2024-08-31"),
    ("2024-09", "1895000.30", "2024-09-30"),
]


@dataclass(frozen=True)
class Database:
    kind: str
    url: str
    count: Callable[[], int]

    def query(self, sql: str, seconds: float = 10.0, **settings: Any) -> Any:
        chosen = {"database": self.url, **settings}
        return perform(query_database, {"sql": sql}, context(seconds, chosen))


@pytest.fixture
def sqlite(tmp_path: Path) -> Database:
    path = tmp_path / "my sales?.sqlite3"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(TABLE)
        connection.executemany("INSERT INTO monthly_revenue VALUES (?, ?, ?)", ROWS)

    def count() -> int:
        with closing(sqlite3.connect(path)) as connection:
            sql = "SELECT count(*) FROM monthly_revenue"
            return int(connection.execute(sql).fetchone()[0])

    return Database("sqlite", f"sqlite:///{str(path).replace('?', '%3F')}", count)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """An empty database beside the one of the tests."""
    server, name = os.environ[ENVIRONMENT], f"tools_{os.getpid()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(f"CREATE ROLE {name}_reader")
        connection.execute(f"CREATE ROLE {name}_login LOGIN PASSWORD 'x' NOINHERIT")
        connection.execute(f"GRANT {name}_reader TO {name}_login")
        found = connection.info
        yield f"postgresql://{found.user}:{found.password}@/{name}?host={found.host}&port={found.port}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP ROLE {name}_login, {name}_reader")


@pytest.fixture
def postgres(postgres_server: str) -> Database:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute("GRANT USAGE ON SCHEMA public TO public")
        connection.execute(TABLE)
        for row in ROWS:
            connection.execute("INSERT INTO monthly_revenue VALUES (%s, %s, %s)", row)
        login = f"{connection.info.dbname}_login"
        connection.execute(f"GRANT SELECT ON monthly_revenue TO {login}")

    def count() -> int:
        with psycopg.connect(postgres_server) as connection:
            found = connection.execute("SELECT count(*) FROM monthly_revenue")
            return int(found.fetchall()[0][0])

    return Database("postgres", as_login(postgres_server), count)


def as_login(owner: str) -> str:
    """The same database as the log-in that agents read with."""
    found = urlsplit(owner)
    _, _, host = found.netloc.rpartition("@")
    login = f"{found.path.lstrip('/')}_login"
    return urlunsplit(found._replace(netloc=f"{login}:x@{host}"))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found
