"""One reading statement on PostgreSQL, safely and within a deadline.

A connection of its own, in a read-only transaction. The statement is prepared by
itself (the protocol takes only one, and only a whole one), then read through a
cursor as a sub-select, where nothing but a query can stand. The server ends it at
the deadline; if that was switched off, we cancel it and shut the socket.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from runs.canonical import Json
from runs.errors import Fatal, InvalidCall, StepError, TimedOut, Transient
from runs.tools.base import Deadline
from runs.tools.sockets import at_deadline, resolve, shut_descriptor
from runs.tools.sql import ONLY_SELECT, Limits, answer
from runs.tools.sql_fence import refuse_powers, refuse_volatile, refuse_words

# Rows fetched at once: each may be as large as the whole answer.
BATCH = 20
CANCEL_S = 0.4

# OFFSET 0 keeps the planner from working an expression out twice; the cast fails,
# with the size in its message, for a row that would not fit our memory. ROW(), for
# a column may be called agentops_row.
_CURSOR = """
DECLARE agentops NO SCROLL CURSOR FOR
SELECT * FROM (SELECT * FROM (
{sql}
) AS agentops_inner OFFSET 0) AS agentops_row
WHERE CASE WHEN pg_catalog.octet_length(ROW(agentops_row.*)::text) > {size}
THEN (pg_catalog.octet_length(ROW(agentops_row.*)::text)::text || ' bytes in one row')::int IS NULL
ELSE true END
"""
_LATER = {"08", "57", "58", "40"}
_FULL = {"53300", "55P03"}


@dataclass(frozen=True)
class Reader:
    """As whom to read: a role to put on, and whether rights to write are accepted."""

    role: str = ""
    may_write: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, Json]) -> Reader:
        """An admin's `role` and `may_write`."""
        return cls(str(settings.get("role", "")), settings.get("may_write") is True)


def read(
    parameters: Mapping[str, Any],
    sql: str,
    limits: Limits,
    deadline: Deadline,
    reader: Reader,
) -> dict[str, Json]:
    """Columns and rows of the statement; `parameters` are those of libpq.

    Raises `InvalidCall` with PostgreSQL's words when the statement is wrong or
    would do more than read, `TimedOut`, `Transient` when the connection is lost,
    and `Fatal` when the database does not let us in, or lets us do too much.
    """
    sql = without_end(sql)
    refuse_words(sql)
    try:
        connection = psycopg.connect(_conninfo(parameters, deadline))
        with (
            contextlib.closing(connection),
            at_deadline(deadline, lambda: _stop(connection)),
        ):
            return _read(connection, sql, limits, deadline, reader)
    except psycopg.Error as error:
        raise _told(error, deadline) from error
    except OSError as error:
        raise Transient(f"The database's host is not found: {error}") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(error) from error


def without_end(sql: str) -> str:
    """The statement without the semicolon and the line comments after it."""
    head, semicolon, tail = sql.rpartition(";")
    lines = [line.strip() for line in tail.split("\n")]
    is_over = all(line.startswith("--") or not line for line in lines)
    return head if semicolon and is_over else sql


def _conninfo(parameters: Mapping[str, Any], deadline: Deadline) -> str:
    """With the host's address, so that libpq does not look it up in its own time."""
    known = dict(parameters)
    attempts = 1
    host = str(known.get("host") or "")
    if host and not host.startswith("/") and "," not in host:
        addresses = resolve(host, int(known.get("port") or 5432), deadline)
        known["host"] = ",".join([host] * len(addresses))
        known["hostaddr"] = ",".join(map(str, addresses))
        attempts = len(addresses)
    # What is judged and what is carried out are the same bytes.
    known["client_encoding"] = "UTF8"
    known["connect_timeout"] = math.ceil(deadline.remaining() / attempts)
    return make_conninfo("", **known)


def _read(
    connection: psycopg.Connection[Any],
    sql: str,
    limits: Limits,
    deadline: Deadline,
    reader: Reader,
) -> dict[str, Json]:
    connection.read_only = True
    with connection.cursor() as cursor:
        _bound(cursor, deadline)
        _become(cursor, reader)
        _prepare(connection, sql)
        refuse_volatile(cursor, sql)
        try:
            _run(cursor, _CURSOR.format(sql=sql, size=limits.bytes), prepare=True)
        except (
            psycopg.errors.SyntaxError,
            psycopg.errors.FeatureNotSupported,
        ) as error:
            raise InvalidCall(f"{ONLY_SELECT}: {_words(error)}.") from error
        _run(cursor, f"FETCH FORWARD {BATCH} FROM agentops")
        columns = [column.name for column in cursor.description or ()]
        return answer(columns, _rows(cursor), limits)


def _bound(cursor: psycopg.Cursor[Any], deadline: Deadline) -> None:
    """The server ends a statement that lasts, and a transaction that we forget."""
    milliseconds = math.ceil(deadline.remaining() * 1000)
    for name in ("statement_timeout", "idle_in_transaction_session_timeout"):
        _run(cursor, f"SET LOCAL {name} = {milliseconds}")


def _become(cursor: psycopg.Cursor[Any], reader: Reader) -> None:
    if reader.role:
        try:
            cursor.execute(SQL("SET LOCAL ROLE {}").format(Identifier(reader.role)))
        except psycopg.errors.Error as error:
            if isinstance(error, psycopg.errors.QueryCanceled):
                raise
            raise Fatal(f"The database does not let us in: {_words(error)}.") from error
    refuse_powers(cursor, may_write=reader.may_write)


def _prepare(connection: psycopg.Connection[Any], sql: str) -> None:
    """Have the server parse the statement alone; nothing is carried out."""
    result = connection.pgconn.prepare(b"agentops", sql.encode())
    if result.status != pq.ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result, "utf-8")


def _rows(cursor: psycopg.Cursor[Any]) -> Iterator[Any]:
    while batch := cursor.fetchall():
        yield from batch
        _run(cursor, f"FETCH FORWARD {BATCH} FROM agentops")


def _run(cursor: psycopg.Cursor[Any], sql: str, prepare: bool = False) -> None:
    cursor.execute(sql.encode(), prepare=prepare)


def _stop(connection: psycopg.Connection[Any]) -> None:
    with contextlib.suppress(psycopg.Error):
        connection.cancel_safe(timeout=CANCEL_S)
    with contextlib.suppress(psycopg.Error):
        shut_descriptor(connection.fileno())


def _told(error: psycopg.Error, deadline: Deadline) -> StepError:
    state = error.sqlstate or ""
    if isinstance(error, psycopg.errors.QueryCanceled) or _is_over(deadline):
        return TimedOut("The statement did not end within its deadline.")
    if not state:
        return _without_state(error)
    # What a statement uses up (53200, 53400) it would use up again.
    if state in _FULL or (state[:2] in _LATER and state != "08P01"):
        return Transient(f"The database cannot answer now: {_words(error)}.")
    if state[:2] in {"28", "3D"}:
        return Fatal(f"The database does not let us in: {_words(error)}.")
    return InvalidCall(f"SQL error: {_words(error)}.")


def _without_state(error: psycopg.Error) -> StepError:
    """Errors of the client; a failed log-in has no code here, only words."""
    if isinstance(error, psycopg.DataError):
        return _unreadable(error)
    words = str(error)
    if "authentication failed" in words or "does not exist" in words:
        return Fatal(f"The database does not let us in: {words}")
    return Transient(f"The connection to the database was lost: {words}")


def _unreadable(error: Exception) -> InvalidCall:
    return InvalidCall(f"A value cannot be read, cast it to text: {error}.")


def _is_over(deadline: Deadline) -> bool:
    return deadline.at <= time.monotonic()


def _words(error: psycopg.Error) -> str:
    """The server's message and hint, without the lines that quote our statement."""
    parts = (
        error.diag.message_primary,
        error.diag.message_detail,
        error.diag.message_hint,
    )
    return " ".join(part.strip() for part in parts if part) or str(error)
