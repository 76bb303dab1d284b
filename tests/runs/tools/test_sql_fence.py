"""Who may be read as on PostgreSQL, and which functions may be called."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest

from runs.errors import Fatal, InvalidCall
from runs.models import Run
from runs.tools.sql_fence import OUR_TABLE, called
from runs.tools.sql_postgres import without_end
from runs.tools.sqlite_child import OUR_TABLE as OUR_TABLE_OF_SQLITE
from tests.runs.tools.conftest import Database

LOGIN = f"tools_{os.getpid()}_login"
READER = f"tools_{os.getpid()}_reader"


@pytest.fixture
def owner(postgres_server: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        yield connection


@pytest.mark.postgres
def test_a_superuser_is_not_read_as(postgres: Database, postgres_server: str) -> None:
    with pytest.raises(Fatal, match="rules the server"):
        Database("postgres", postgres_server, lambda: 0).query("SELECT 1")


@pytest.mark.postgres
def test_a_log_in_that_may_read_files_of_the_server_is_not_read_as(
    postgres: Database, owner: psycopg.Connection
) -> None:
    owner.execute(f"GRANT pg_read_server_files TO {LOGIN}")
    try:
        with pytest.raises(Fatal, match="rules the server"):
            postgres.query("SELECT 1")
    finally:
        owner.execute(f"REVOKE pg_read_server_files FROM {LOGIN}")


@pytest.mark.postgres
@pytest.mark.parametrize("right", ["DELETE", "TRUNCATE", "UPDATE (day)"])
def test_a_log_in_that_may_write_is_not_read_as(
    postgres: Database, owner: psycopg.Connection, right: str
) -> None:
    owner.execute(f"GRANT {right} ON monthly_revenue TO {LOGIN}")

    with pytest.raises(Fatal, match="may write to monthly_revenue"):
        postgres.query("SELECT 1")


@pytest.mark.postgres
def test_a_role_put_on_does_not_hide_that_the_log_in_may_write(
    postgres: Database, owner: psycopg.Connection
) -> None:
    owner.execute(f"GRANT INSERT ON monthly_revenue TO {LOGIN}")

    with pytest.raises(Fatal, match="may write"):
        postgres.query("SELECT 1", role=READER)


@pytest.mark.postgres
def test_an_admin_may_accept_a_log_in_that_may_write(
    postgres: Database, owner: psycopg.Connection
) -> None:
    owner.execute(f"GRANT ALL ON monthly_revenue TO {LOGIN}")

    assert postgres.query("SELECT 3", may_write=True)["rows"] == [[3]]
    with pytest.raises(InvalidCall):
        postgres.query("DELETE FROM monthly_revenue", may_write=True)
    assert postgres.count() == 3


@pytest.mark.postgres
def test_a_role_that_is_not_there_needs_a_person(postgres: Database) -> None:
    with pytest.raises(Fatal, match="does not exist"):
        postgres.query("SELECT 1", role="nobody_at_all")


@pytest.mark.postgres
def test_tables_of_the_product_are_not_read(
    postgres: Database, owner: psycopg.Connection
) -> None:
    owner.execute("CREATE TABLE runs_run (x int)")
    owner.execute("CREATE TABLE auth_user (password text)")
    assert postgres.query("SELECT 3")["rows"] == [[3]]

    owner.execute(f"GRANT SELECT ON auth_user TO {LOGIN}")
    with pytest.raises(Fatal, match="product's own"):
        postgres.query("SELECT 3")


FUNCTION = (
    "CREATE FUNCTION note(int) RETURNS int {kind} LANGUAGE sql AS 'SELECT $1';"
    " CREATE TABLE noted (note int); GRANT SELECT ON noted TO public"
)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT note(3)",
        "SELECT NOTE (3)",
        'SELECT "note"(3)',
        "SELECT public.note/* here */(3)",
        "SELECT note -- here\n (3)",
        "SELECT 'an \" odd one', note(3), '\"'",
        "SELECT (SELECT note(3) FROM noted)",
    ],
)
def test_a_function_that_may_change_something_is_not_called(
    postgres: Database, owner: psycopg.Connection, sql: str
) -> None:
    owner.execute(FUNCTION.format(kind=""))

    with pytest.raises(InvalidCall, match="note is not allowed"):
        postgres.query(sql)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "sql", ["SELECT m.wipe FROM noted m", 'SELECT (m)."wipe" FROM noted m']
)
def test_a_function_of_a_row_is_not_called_by_its_other_name(
    postgres: Database, owner: psycopg.Connection, sql: str
) -> None:
    owner.execute(FUNCTION.format(kind="STABLE"))
    owner.execute(
        "CREATE FUNCTION wipe(noted) RETURNS int LANGUAGE sql AS 'SELECT $1.note'"
    )

    with pytest.raises(InvalidCall, match="wipe is not allowed"):
        postgres.query(sql)


@pytest.mark.postgres
def test_a_function_that_only_reads_is_called(
    postgres: Database, owner: psycopg.Connection
) -> None:
    owner.execute(FUNCTION.format(kind="STABLE"))

    assert postgres.query("SELECT note(3)")["rows"] == [[3]]


@pytest.mark.postgres
def test_a_column_may_be_called_like_such_a_function(
    postgres: Database, owner: psycopg.Connection
) -> None:
    owner.execute(FUNCTION.format(kind="VOLATILE"))

    assert postgres.query("SELECT note, noted.note FROM noted")["rows"] == []


@pytest.mark.postgres
def test_what_is_judged_is_what_is_carried_out(
    postgres: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")

    assert postgres.query("SELECT 'ü€', length('ü€')")["rows"] == [["ü€", 2]]


@pytest.mark.parametrize(
    "text", ["--" * 9_000, "-- ;" * 4_000, ";" * 9_000, '"' * 9_999]
)
def test_no_long_statement_keeps_the_process_busy(text: str) -> None:
    sql = f"SELECT 1;{text}\nX"

    assert without_end(sql) == sql
    assert called(sql) is not None


def test_a_trailing_semicolon_and_comments_are_left_out() -> None:
    assert without_end("SELECT 1 ; -- one\n -- two\n") == "SELECT 1 "
    assert without_end("SELECT ';'") == "SELECT ';'"


def test_our_table_is_known_by_its_name() -> None:
    assert Run._meta.db_table == OUR_TABLE == OUR_TABLE_OF_SQLITE
