"""Statements end in time, and answers are bounded."""

from __future__ import annotations

import os
import sys
import threading

import psycopg
import pytest

from runs.errors import InvalidCall, TimedOut
from runs.tools.base import Deadline
from runs.tools.children import answer_of
from tests.runs.tools.conftest import Database
from tests.support.wait import cut_short, wait_until

DEEP = [
    "SELECT 1" + " + amount" * 900 + " FROM monthly_revenue",
    "SELECT ''" + " || month" * 900 + " FROM monthly_revenue",
    "SELECT 1" + " UNION ALL SELECT 1" * 400,
    "SELECT month FROM monthly_revenue" + " EXCEPT SELECT ''" * 400 + " ORDER BY 1",
    "SELECT replace(hex(zeroblob(9)), '0', 'aaaaaaaa') LIKE '" + "%a" * 9_000 + "'",
    "SELECT month LIKE '" + "%2" * 9_000 + "' FROM monthly_revenue",
    "SELECT month GLOB '" + "*2" * 9_000 + "' FROM monthly_revenue",
    "SELECT " + "(" * 500 + "1" + ")" * 500,
]


@pytest.mark.parametrize("sql", DEEP)
def test_s11_no_statement_overflows_the_stack_of_a_thread(
    sqlite: Database, sql: str
) -> None:
    errors: list[InvalidCall] = []

    def ask() -> None:
        try:
            sqlite.query(sql)
        except InvalidCall as error:
            errors.append(error)

    size = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)

    assert len(errors) == 1


ENDLESS_SQLITE = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    " SELECT count(*) FROM n"
)


ENDLESS_POSTGRES = [
    "SELECT pg_sleep(60)",
    "SELECT count(*) FROM generate_series(1, 1000000000)",
    "SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 9) b",
]


def test_s11_an_endless_statement_of_sqlite_ends(sqlite: Database) -> None:
    with cut_short(), pytest.raises(TimedOut):
        sqlite.query(ENDLESS_SQLITE, seconds=0.5)


@pytest.mark.postgres
@pytest.mark.parametrize("sql", ENDLESS_POSTGRES)
def test_s11_an_endless_statement_of_postgres_ends(
    postgres: Database, postgres_server: str, sql: str
) -> None:
    with cut_short(), pytest.raises(TimedOut):
        postgres.query(sql, seconds=0.5)

    wait_until(lambda: _is_idle(postgres_server), what="the server to stop")


def _is_idle(server: str) -> bool:
    sql = (
        "SELECT count(*) FROM pg_stat_activity WHERE state = 'active'"
        " AND datname = current_database() AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(server) as connection:
        return connection.execute(sql.encode()).fetchall() == [(0,)]


@pytest.mark.postgres
def test_s11_it_ends_even_if_the_server_does_not_end_it(
    postgres: Database, postgres_server: str
) -> None:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION stay() RETURNS int STABLE LANGUAGE plpgsql AS $$ BEGIN"
            " PERFORM set_config('statement_timeout', '0', false);"
            " PERFORM pg_sleep(0.1); RETURN 1; END $$"
        )

    with cut_short(), pytest.raises(TimedOut):
        postgres.query("SELECT stay() FROM generate_series(1, 600)", seconds=1)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "sql", ["SET statement_timeout=0; SELECT pg_sleep(60)", "SET statement_timeout=0"]
)
def test_s11_the_limit_cannot_be_switched_off(postgres: Database, sql: str) -> None:
    with pytest.raises(InvalidCall):
        postgres.query(sql, seconds=1)


def test_s11_rows_are_limited(database: Database) -> None:
    sql = "SELECT a.month FROM monthly_revenue a, monthly_revenue b"

    result = database.query(sql, max_rows=5)

    assert result["row_count"] == len(result["rows"]) == 5
    assert result["truncated"] is True


def test_s11_exactly_as_many_rows_as_allowed_are_not_cut(database: Database) -> None:
    result = database.query("SELECT month FROM monthly_revenue", max_rows=3)

    assert (result["row_count"], result["truncated"]) == (3, False)


BIG = {
    "sqlite": "SELECT replace(printf('%999999d', 1), ' ', 'xx')",
    "postgres": "SELECT repeat('x', 2000000)",
}


MANY = {
    "sqlite": "SELECT printf('%1000d', 1) FROM monthly_revenue",
    "postgres": "SELECT repeat('x', 1000) FROM monthly_revenue",
}


def test_s11_bytes_of_a_row_are_limited(database: Database) -> None:
    with pytest.raises(InvalidCall, match=r"too big|bytes in one row"):
        database.query(BIG[database.kind])


@pytest.mark.postgres
def test_s11_no_name_of_a_column_hides_how_large_a_row_is(postgres: Database) -> None:
    sql = "SELECT repeat('x', 2000000) AS big, 1 AS agentops_row"

    with pytest.raises(InvalidCall, match="bytes in one row"):
        postgres.query(sql)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (repeat('[', 100000) || repeat(']', 100000))::json",
        "SELECT '10000-01-01'::date",
    ],
)
def test_s11_a_value_that_cannot_be_read_is_told(postgres: Database, sql: str) -> None:
    with pytest.raises(InvalidCall):
        postgres.query(sql)


NARROW = (
    "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
    "from runs.tools import sqlite_child as child; child._bound(5);"
    "print(resource.getrlimit(resource.RLIMIT_FSIZE)[0],"
    " resource.getrlimit(resource.RLIMIT_CPU)[0])"
)


@pytest.mark.once
def test_s11_limits_that_are_narrower_already_stay() -> None:
    command = [sys.executable, "-c", NARROW]
    deadline = Deadline.after(30)

    ended = answer_of(command, b"", deadline, most_bytes=100, env=os.environ)

    assert ended.answer.split() == [b"4096", b"6"]


WASTEFUL = {
    "memory": "SELECT " + ", ".join(f"printf('%999999d', {n})" for n in range(700)),
    "room": (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000)"
        " SELECT count(DISTINCT printf('%900d', i)) FROM n"
    ),
}


@pytest.mark.parametrize("sql", WASTEFUL.values(), ids=WASTEFUL)
def test_s11_what_a_statement_of_sqlite_uses_up_is_limited(
    sqlite: Database, sql: str
) -> None:
    with pytest.raises(InvalidCall, match="needs too much"):
        sqlite.query(sql, seconds=60)


def test_s11_bytes_of_all_rows_are_limited(database: Database) -> None:
    result = database.query(MANY[database.kind], max_bytes=2_500)

    assert (result["row_count"], result["truncated"]) == (2, True)
