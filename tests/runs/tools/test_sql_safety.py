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
    "DETACH DATABASE main",
    "EXPLAIN DELETE FROM monthly_revenue",
    "WITH x AS (SELECT 1) INSERT INTO monthly_revenue (month) SELECT '1' FROM x",
    "CREATE VIRTUAL TABLE v USING fts5(x)",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA hard_heap_limit = 0",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA user_version = 7",
    "PRAGMA optimize",
    "SELECT * FROM pragma_journal_mode('delete')",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM dbstat",
    "SELECT * FROM zipfile('/tmp/x.zip')",
    "SELECT edit('x', 'vi')",
    "SELECT fts3_tokenizer('x', x'00')",
    "SELECT randomblob(1000)",
    "SELECT sqlite_compileoption_get(1)",
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
    "/* /* nested */ */ DELETE FROM monthly_revenue",
    "WITH d AS MATERIALIZED (UPDATE monthly_revenue SET day = NULL RETURNING 1) TABLE d",
    "MERGE INTO monthly_revenue m USING (SELECT 1) s ON true WHEN MATCHED THEN DELETE",
    "SELECT * FROM monthly_revenue FOR KEY SHARE SKIP LOCKED",
    "SET SESSION AUTHORIZATION postgres",
    "SET LOCAL ROLE postgres",
    "DECLARE c CURSOR FOR SELECT 1",
    "PREPARE p AS DELETE FROM monthly_revenue",
    "COPY (SELECT 1) TO '/tmp/agentops-copied'",
    "CREATE TEMP VIEW v AS SELECT 1",
    "REFRESH MATERIALIZED VIEW v",
    "DISCARD ALL",
    "VACUUM",
    "LOAD 'auto_explain'",
    "EXPLAIN (ANALYZE) SELECT setval('s', 1)",
    "SELECT nextval('s')",
    "SELECT word FROM ts_stat('DELETE FROM monthly_revenue')",
    'SELECT "ts_stat" /* */ ($q$DELETE FROM monthly_revenue$q$)',
    "SELECT pg_notify('x', 'y')",
    "SELECT pg_stat_reset()",
    "SELECT lo_truncate(1, 1)",
    "SELECT pg_sync_replication_slots()",
    "SELECT gin_clean_pending_list('x')",
    'SELECT "pg_stat_force_next_flush"--\n()',
    "SELECT pg_current_logfile()",
    "SELECT pg_control_system()",
    "SELECT current_setting('data_directory')",
    "SELECT * FROM pg_settings",
    "SELECT * FROM pg_db_role_setting",
    "SELECT * FROM pg_shadow",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_hba_file_rules",
    "SELECT * FROM pg_user_mappings",
    "SELECT * FROM dblink('', 'DELETE FROM monthly_revenue') AS t(x int)",
    "SELECT * FROM crosstab('DELETE FROM monthly_revenue') AS t(x int)",
    "SELECT * FROM xpath_table('a', 'b', 'c', '/d', 'true') AS t(x int)",
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
