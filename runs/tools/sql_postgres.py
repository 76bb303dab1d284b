"""One reading statement on PostgreSQL, safely and within a deadline.

A connection of its own, in a read-only transaction. The statement is prepared by
itself (the protocol takes only one, and only a whole one), then read through a
cursor as a sub-select, where nothing but a query can stand. The server ends it at
the deadline; if that was switched off, we cancel it and shut the socket.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Iterator, Mapping
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

BATCH = 200
CANCEL_S = 0.4

# Functions with effects outside the transaction, or that run SQL made from text.
# The read-only transaction and the role's rights are the wall; this is the fence.
_REFUSED = re.compile(
    r"""\b(set_config|setval|nextval|dblink\w*|crosstab\w*|connectby|ts_stat|ts_rewrite
    |lo_(?:import|export|creat|unlink|put|get|from_bytea|open)\w*|loread|lowrite|\w+_to_xml\w*|pg_notify|pg_promote|pg_switch_wal
    |pg_(read|ls|stat_file|file|terminate|cancel|reload|rotate|advisory|try_advisory
    |logical|create|drop|wal_replay|stat_reset|replication|copy|export|import|backup
    |start_backup|stop_backup|log_|authid|shadow|hba|ident_file|user_mapping)\w*)\b
    |\bu&["']""",
    re.IGNORECASE | re.VERBOSE,
)
_END = re.compile(r";\s*(--[^\n]*\s*)*\Z")
# OFFSET 0 keeps the planner from working an expression out twice; the cast fails,
# with the size in its message, for a row that would not fit our memory.
_CURSOR = """
DECLARE agentops NO SCROLL CURSOR FOR
SELECT * FROM (SELECT * FROM (
{sql}
) AS agentops_inner OFFSET 0) AS agentops_row
WHERE CASE WHEN octet_length(agentops_row::text) > {size}
THEN (octet_length(agentops_row::text)::text || ' bytes in one row')::int IS NULL
ELSE true END
"""
_CONNECTION_GONE = {"08", "53", "57", "58", "40"}


def read(
    parameters: Mapping[str, Any],
    sql: str,
    limits: Limits,
    deadline: Deadline,
    role: str = "",
) -> dict[str, Json]:
    """Columns and rows of the statement; `parameters` are those of libpq.

    Raises `InvalidCall` with PostgreSQL's words when the statement is wrong or
    would do more than read, `TimedOut`, `Transient` when the connection is lost,
    and `Fatal` when the database does not let us in.
    """
    sql = _END.sub("", sql)
    refused = _REFUSED.search(sql)
    if refused:
        raise InvalidCall(f"{refused[0]} is not allowed here.")
    try:
        connection = psycopg.connect(_conninfo(parameters, deadline))
        with (
            contextlib.closing(connection),
            at_deadline(deadline, lambda: _stop(connection)),
        ):
            return _read(connection, sql, limits, deadline, role)
    except psycopg.Error as error:
        raise _told(error, deadline) from error
    except OSError as error:
        raise Transient(f"The database's host is not found: {error}") from error


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
    known["connect_timeout"] = math.ceil(deadline.remaining() / attempts)
    return make_conninfo("", **known)


def _read(
    connection: psycopg.Connection[Any],
    sql: str,
    limits: Limits,
    deadline: Deadline,
    role: str,
) -> dict[str, Json]:
    connection.read_only = True
    with connection.cursor() as cursor:
        milliseconds = math.ceil(deadline.remaining() * 1000)
        _run(cursor, f"SET LOCAL statement_timeout = {milliseconds}")
        if role:
            cursor.execute(SQL("SET LOCAL ROLE {}").format(Identifier(role)))
        _prepare(connection, sql)
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


def _prepare(connection: psycopg.Connection[Any], sql: str) -> None:
    """Have the server parse the statement alone; nothing is carried out."""
    encoding = connection.info.encoding
    result = connection.pgconn.prepare(b"agentops", sql.encode(encoding))
    if result.status != pq.ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(result, encoding)


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
    if state == "55P03" or (state[:2] in _CONNECTION_GONE and state != "08P01"):
        return Transient(f"The database cannot answer now: {_words(error)}.")
    if state[:2] in {"28", "3D"}:
        return Fatal(f"The database does not let us in: {_words(error)}.")
    return InvalidCall(f"SQL error: {_words(error)}.")


def _without_state(error: psycopg.Error) -> StepError:
    """Errors of the client; a failed log-in has no code here, only words."""
    if isinstance(error, psycopg.DataError):
        return InvalidCall(f"A value cannot be read, cast it to text: {error}.")
    words = str(error)
    if "authentication failed" in words or "does not exist" in words:
        return Fatal(f"The database does not let us in: {words}")
    return Transient(f"The connection to the database was lost: {words}")


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
