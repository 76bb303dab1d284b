"""Rows come back, and mistakes are told to whom they concern."""

from __future__ import annotations

import socket
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections

from runs.errors import Fatal, InvalidCall, TimedOut, Transient
from runs.tools.perform import perform
from runs.tools.query_database import query_database
from tests.runs.tools.calls import context
from tests.runs.tools.conftest import Database
from tests.support.wait import cut_short, wait_until


def test_it_returns_columns_and_rows(database: Database) -> None:
    result = database.query(
        "SELECT month, day, count(*) AS n FROM monthly_revenue"
        " WHERE month LIKE '2024-%' GROUP BY month, day ORDER BY month"
    )

    assert result == {
        "columns": ["month", "day", "n"],
        "rows": [
            ["2024-07", "2024-07-31", 1],
            ["2024-08", "2024-08-31", 1],
            ["2024-09", "2024-09-30", 1],
        ],
        "row_count": 3,
        "truncated": False,
    }


@pytest.mark.postgres
def test_a_number_of_postgres_is_exact_text(postgres: Database) -> None:
    assert postgres.query("SELECT sum(amount) FROM monthly_revenue")["rows"] == [
        ["4525000.60"]
    ]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT nope FROM monthly_revenue", "nope"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELEC 1", "SELEC"),
        ("", "sql"),
        ("SELECT 'unfinished", "unfinished|unrecognized"),
    ],
)
def test_a_mistake_is_told_to_the_model(
    database: Database, sql: str, words: str
) -> None:
    with pytest.raises(InvalidCall, match=words):
        database.query(sql)


@pytest.mark.postgres
def test_odd_values_of_postgres_become_json(postgres: Database) -> None:
    result = postgres.query(
        "SELECT NULL, ARRAY[1, 2], '{\"a\": 1}'::jsonb, 'NaN'::float8, true,"
        " '\\x00ff'::bytea, interval '90 min', timestamptz '2024-09-30 12:00+00'"
    )

    assert result["rows"] == [
        [
            None,
            [1, 2],
            {"a": 1},
            None,
            True,
            "base64:AP8=",
            "1:30:00",
            "2024-09-30T12:00:00+00:00",
        ]
    ]


@pytest.mark.postgres
def test_a_date_that_python_does_not_know_is_told(postgres: Database) -> None:
    with pytest.raises(InvalidCall, match="cast it to text"):
        postgres.query("SELECT 'infinity'::date")


def test_text_that_is_no_utf8_is_read(sqlite: Database) -> None:
    assert sqlite.query("SELECT CAST(x'ff' AS TEXT), x'00'")["rows"] == [
        ["\ufffd", "base64:AA=="]
    ]


def test_a_locked_file_may_be_read_later(sqlite: Database) -> None:
    path = sqlite.url.removeprefix("sqlite:///").replace("%3F", "?")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(Transient, match="locked"):
            sqlite.query("SELECT 1 FROM monthly_revenue", seconds=0.5)


def test_a_database_that_is_not_there_needs_a_person(tmp_path: Path) -> None:
    missing = Database("sqlite", f"sqlite:///{tmp_path}/none.sqlite3", lambda: 0)

    with pytest.raises(Fatal, match="not there"):
        missing.query("SELECT 1")
    with pytest.raises(Fatal, match="not known"):
        Database("", "nonsense://user:secret@host/x", lambda: 0).query("SELECT 1")

    (tmp_path / "text").write_text("no database at all, but long enough" * 40)
    with pytest.raises(Fatal, match="cannot be read"):
        Database("", f"sqlite:///{tmp_path}/text", lambda: 0).query("SELECT 1 FROM x")


def test_nothing_set_needs_a_person(settings: Any) -> None:
    settings.AGENTOPS_TOOL_DATABASE_URL = ""

    with pytest.raises(Fatal, match="No database is set"):
        perform(query_database, {"sql": "SELECT 1"}, context())


def test_the_setting_of_the_installation_is_the_default(
    sqlite: Database, settings: Any
) -> None:
    settings.AGENTOPS_TOOL_DATABASE_URL = sqlite.url

    result = perform(query_database, {"sql": "SELECT 3"}, context())

    assert result["rows"] == [[3]]


@pytest.mark.django_db(transaction=True)
def test_the_products_own_database_is_not_read() -> None:
    chosen = context(settings={"database": "default"})

    with pytest.raises(Fatal, match=r"own|rules the server"):
        perform(query_database, {"sql": "SELECT * FROM django_session"}, chosen)


def test_no_copy_of_the_products_own_database_is_read(sqlite: Database) -> None:
    path = sqlite.url.removeprefix("sqlite:///").replace("%3F", "?")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs_run (id)")

    with pytest.raises(Fatal, match="product's own"):
        sqlite.query("SELECT 1")


def test_an_alias_of_django_can_be_read(
    sqlite: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sqlite.url.removeprefix("sqlite:///").replace("%3F", "?")
    file = {"ENGINE": "django.db.backends.sqlite3", "NAME": path}
    chosen = {**connections.settings["default"], **file}
    monkeypatch.setitem(connections.settings, "sales", chosen)

    assert sqlite.query("SELECT 3", database="sales")["rows"] == [[3]]


def test_a_server_that_is_not_there_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nobody = Database("", f"postgresql://u:p@127.0.0.1:{port}/x", lambda: 0)

    with pytest.raises(Transient, match="lost"):
        nobody.query("SELECT 1")


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        mute = Database("", f"postgresql://u:p@localhost:{port}/x", lambda: 0)

        with cut_short(), pytest.raises((TimedOut, Transient)):
            mute.query("SELECT 1", seconds=0.5)


@pytest.mark.postgres
def test_a_lost_connection_is_tried_again(
    postgres: Database, postgres_server: str
) -> None:
    errors: list[Exception] = []

    def ask() -> None:
        try:
            postgres.query("SELECT pg_sleep(20)", seconds=20)
        except Transient as error:
            errors.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    _end_the_sleeping(postgres_server)
    asking.join()

    assert len(errors) == 1


def _end_the_sleeping(server: str) -> None:
    sql = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event = 'PgSleep'"
        " AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(server, autocommit=True) as connection:
        wait_until(lambda: connection.execute(sql.encode()).fetchall())
