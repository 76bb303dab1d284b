"""Reading with SQL: rows come back, and nothing changes, whatever is tried."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from runs.errors import Fatal, InvalidCall, TimedOut, Transient
from runs.tools.perform import perform
from runs.tools.query_database import query_database
from tests.runs.tools.calls import context
from tests.support.databases import ENVIRONMENT
from tests.support.wait import wait_until

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
        found = connection.info
        yield f"postgresql://{found.user}:{found.password}@/{name}?host={found.host}&port={found.port}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP ROLE {name}_reader")


@pytest.fixture
def postgres(postgres_server: str) -> Database:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute("GRANT USAGE ON SCHEMA public TO public")
        connection.execute(TABLE)
        for row in ROWS:
            connection.execute("INSERT INTO monthly_revenue VALUES (%s, %s, %s)", row)

    def count() -> int:
        with psycopg.connect(postgres_server) as connection:
            found = connection.execute("SELECT count(*) FROM monthly_revenue")
            return int(found.fetchall()[0][0])

    return Database("postgres", postgres_server, count)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found


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


READING = [
    "WITH m AS (SELECT * FROM monthly_revenue) SELECT count(*) FROM m",
    "SELECT count(*) FROM monthly_revenue;",
    "SELECT count(*) FROM monthly_revenue; -- all of them\n",
    "-- first a word\nSELECT count(*) FROM monthly_revenue",
    (
        "SELECT count(*) FROM (SELECT a.month, b.month FROM monthly_revenue a"
        " JOIN monthly_revenue b ON a.month = b.month) x"
    ),
    "VALUES (3)",
    "SELECT 3 AS agentops_row",
    (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
        " SELECT max(i) FROM n"
    ),
]


@pytest.mark.parametrize("sql", READING)
def test_s09_what_only_reads_works(database: Database, sql: str) -> None:
    assert database.query(sql)["rows"] == [[3]]


WRITING = [
    "DELETE FROM monthly_revenue",
    "WITH d AS (DELETE FROM monthly_revenue RETURNING 1) SELECT count(*) FROM d",
    "WITH d AS (SELECT 1) DELETE FROM monthly_revenue",
    "COMMIT; DELETE FROM monthly_revenue",
    "SELECT 1; DELETE FROM monthly_revenue",
    "/* just looking */ DELETE FROM monthly_revenue",
    "-- just looking\nDELETE FROM monthly_revenue",
    "EXPLAIN ANALYZE DELETE FROM monthly_revenue",
    "SELECT * INTO copied FROM monthly_revenue",
    "CREATE TABLE copied AS SELECT * FROM monthly_revenue",
    "CREATE TEMP TABLE copied (x int)",
    "UPDATE monthly_revenue SET amount = 0 RETURNING month",
    "INSERT INTO monthly_revenue (month) VALUES ('x') RETURNING month",
    "DROP TABLE monthly_revenue",
    "COMMIT",
    "BEGIN",
    "ROLLBACK",
    "SELECT 1) AS a, (SELECT 2",
]
WRITING_SQLITE = [
    "REPLACE INTO monthly_revenue (month) VALUES ('x')",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "ATTACH DATABASE ':memory:' AS other",
    "ATTACH DATABASE '/tmp/agentops-attached.sqlite3' AS other",
    "VACUUM INTO '/tmp/agentops-copied.sqlite3'",
    "SELECT load_extension('x')",
    "SELECT writefile('/tmp/agentops-written', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT zeroblob(1000000000)",
    "SAVEPOINT here",
    "REINDEX",
    "ANALYZE",
]
WRITING_POSTGRES = [
    "SELECT set_config('transaction_read_only', 'off', false)",
    "SELECT \"set_config\"('statement_timeout', '0', false)",
    "SELECT pg_catalog.set_config('role', 'none', false)",
    "SELECT U&\"\\0073et_config\"('statement_timeout', '0', false)",
    "SET statement_timeout = 0",
    "SET TRANSACTION READ WRITE",
    "SET ROLE postgres",
    "RESET ALL",
    "DO $$ BEGIN DELETE FROM monthly_revenue; END $$",
    "COPY monthly_revenue TO STDOUT",
    "COPY monthly_revenue TO PROGRAM 'cat'",
    "COPY monthly_revenue FROM STDIN",
    "CALL nothing()",
    "EXECUTE agentops",
    "FETCH ALL FROM agentops",
    "LOCK TABLE monthly_revenue",
    "SELECT * FROM monthly_revenue FOR UPDATE",
    "SELECT pg_terminate_backend(pg_backend_pid())",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT query_to_xml('DELETE FROM monthly_revenue', true, false, '')",
    "SELECT pg_advisory_lock(1)",
    "PREPARE TRANSACTION 'x'",
    "LISTEN x",
    "NOTIFY x",
    "SELECT $1::int",
]


@pytest.mark.parametrize("sql", WRITING)
def test_s09_what_would_write_is_refused(database: Database, sql: str) -> None:
    with pytest.raises(InvalidCall):
        database.query(sql)

    assert database.count() == 3


@pytest.mark.parametrize("sql", WRITING_SQLITE)
def test_s09_sqlite_has_no_other_way_out(sqlite: Database, sql: str) -> None:
    with pytest.raises(InvalidCall):
        sqlite.query(sql)

    assert sqlite.count() == 3
    assert not list(Path("/tmp").glob("agentops-[acw][torp]*[ed]*"))  # noqa: S108


@pytest.mark.postgres
@pytest.mark.parametrize("sql", WRITING_POSTGRES)
def test_s09_postgres_has_no_other_way_out(postgres: Database, sql: str) -> None:
    with pytest.raises(InvalidCall):
        postgres.query(sql)

    assert postgres.count() == 3


@pytest.mark.postgres
def test_s09_a_role_that_may_not_select_does_not(
    postgres: Database, postgres_server: str
) -> None:
    role = f"tools_{os.getpid()}_reader"
    assert postgres.query("SELECT current_user", role=role)["rows"] == [[role]]

    with pytest.raises(InvalidCall, match="permission denied"):
        postgres.query("SELECT * FROM monthly_revenue", role=role)


def test_s09_the_structure_of_sqlite_can_be_read(sqlite: Database) -> None:
    columns = sqlite.query("PRAGMA table_info(monthly_revenue)")
    tables = sqlite.query("SELECT name FROM sqlite_master")

    assert [row[1] for row in columns["rows"]] == ["month", "amount", "day"]
    assert tables["rows"] == [["monthly_revenue"]]


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
    started = time.monotonic()

    with pytest.raises(TimedOut):
        sqlite.query(ENDLESS_SQLITE, seconds=0.5)

    assert time.monotonic() - started < 1.5


@pytest.mark.postgres
@pytest.mark.parametrize("sql", ENDLESS_POSTGRES)
def test_s11_an_endless_statement_of_postgres_ends(
    postgres: Database, postgres_server: str, sql: str
) -> None:
    started = time.monotonic()

    with pytest.raises(TimedOut):
        postgres.query(sql, seconds=0.5)

    assert time.monotonic() - started < 1.5
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
            "CREATE FUNCTION stay() RETURNS int LANGUAGE plpgsql AS $$ BEGIN"
            " PERFORM set_config('statement_timeout', '0', false);"
            " PERFORM pg_sleep(0.1); RETURN 1; END $$"
        )
    started = time.monotonic()

    with pytest.raises(TimedOut):
        postgres.query("SELECT stay() FROM generate_series(1, 600)", seconds=1)

    assert time.monotonic() - started < 2


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


def test_s11_bytes_of_all_rows_are_limited(database: Database) -> None:
    result = database.query(MANY[database.kind], max_bytes=2_500)

    assert (result["row_count"], result["truncated"]) == (2, True)


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
def test_an_alias_of_django_can_be_read() -> None:
    sql = "SELECT count(*) FROM django_session"

    result = perform(
        query_database, {"sql": sql}, context(settings={"database": "default"})
    )

    assert result["rows"] == [[0]]


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
        started = time.monotonic()

        with pytest.raises((TimedOut, Transient)):
            mute.query("SELECT 1", seconds=2)

    assert time.monotonic() - started < 3


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
        " WHERE pid <> pg_backend_pid() AND wait_event = 'PgSleep'"
    )
    with psycopg.connect(server, autocommit=True) as connection:
        wait_until(lambda: connection.execute(sql.encode()).fetchall())
