"""Nothing changes in the database, whatever is tried."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runs.errors import InvalidCall
from tests.runs.tools.conftest import Database

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
def test_s09_names_that_look_alike_are_not_refused(postgres: Database) -> None:
    result = postgres.query("SELECT 3 AS lo_revenue, 'a notify' AS pg_note")

    assert result["rows"] == [[3, "a notify"]]


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
