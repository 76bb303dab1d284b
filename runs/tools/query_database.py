"""The tool that reads a SQL database, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dj_database_url
from django.conf import settings
from django.db import connections
from pydantic import Field, PositiveInt

from runs.canonical import Json, shorten
from runs.errors import Fatal
from runs.tools import sql_postgres, sql_sqlite
from runs.tools.base import Context, Effect, tool
from runs.tools.choices import Choices
from runs.tools.sql import Limits

# Options of Django's own that libpq does not know.
_NOT_FOR_LIBPQ = {"pool", "server_side_binding", "isolation_level", "assume_role"}


class QueryChoices(Choices):
    """`database`: an alias of DATABASES or a URL, default AGENTOPS_TOOL_DATABASE_URL.

    PostgreSQL: `role` to read as; `may_write` accepts a log-in with rights to write.
    """

    database: str = ""
    role: str = ""
    may_write: bool = False
    max_rows: PositiveInt = Limits.rows
    max_bytes: PositiveInt = Limits.bytes


@tool(
    effect=Effect.READ,
    choices=QueryChoices,
    describe=lambda arguments: f"Query: {shorten(arguments['sql'], 120)}",
)
def query_database(
    sql: Annotated[str, Field(min_length=1, max_length=20_000)], context: Context
) -> dict[str, Json]:
    """Read from the database with one SQL SELECT statement.

    It cannot change anything. Limit the rows you ask for; `truncated` tells that
    more were found than are shown.
    """
    database = _database(context.settings)
    limits = Limits.of(context.settings)
    if database["ENGINE"].endswith("sqlite3"):
        return sql_sqlite.read(str(database["NAME"]), sql, limits, context.deadline)
    if database["ENGINE"].endswith(("postgresql", "postgis")):
        reader = sql_postgres.Reader.of(context.settings)
        parameters = _libpq(database)
        return sql_postgres.read(parameters, sql, limits, context.deadline, reader)
    raise Fatal("query_database reads SQLite and PostgreSQL only.")


def _database(chosen: Mapping[str, Json]) -> Mapping[str, Any]:
    """Django's settings of the database that was chosen; raises `Fatal`."""
    name = chosen.get("database") or getattr(settings, "AGENTOPS_TOOL_DATABASE_URL", "")
    if not name:
        raise Fatal("No database is set for query_database.")
    if name in connections:
        return connections[name].settings_dict
    try:
        return dict(dj_database_url.parse(name))
    except ValueError:
        # The URL may hold a password, so it is not quoted.
        raise Fatal("The database set for query_database is not known.") from None


def _libpq(database: Mapping[str, Any]) -> dict[str, Any]:
    options = database.get("OPTIONS", {})
    given = {
        "dbname": database.get("NAME"),
        "user": database.get("USER"),
        "password": database.get("PASSWORD"),
        "host": database.get("HOST"),
        "port": database.get("PORT"),
    }
    return {name: value for name, value in given.items() if value} | {
        name: value
        for name, value in options.items()
        if name not in _NOT_FOR_LIBPQ and isinstance(value, str | int)
    }
