"""One reading statement on a SQLite file, safely and within a deadline.

The file is opened read-only; an authorizer sees each thing the statement would do
when it is compiled, and refuses all but reading. A progress handler ends it.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from runs.canonical import Json
from runs.errors import Fatal, InvalidCall, StepError, TimedOut, Transient
from runs.tools.base import Deadline
from runs.tools.sql import ONLY_SELECT, Limits, answer

OPERATIONS_BETWEEN_LOOKS = 5_000
MAX_DEPTH = 200
MAX_UNIONS = 50
MAX_PATTERN = 500
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_RECURSIVE,
}
_PRAGMAS = {
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
}
_FUNCTION_NAMES = """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce
    concat concat_ws cos cosh count cume_dist current_date current_time
    current_timestamp date datetime degrees dense_rank exp first_value floor format
    glob group_concat hex ifnull iif instr json json_array json_array_length
    json_each json_error_position json_extract json_group_array json_group_object
    json_insert json_object json_patch json_pretty json_quote json_remove
    json_replace json_set json_tree json_type json_valid julianday lag last_value
    lead length like likelihood likely ln log log10 log2 lower ltrim match max
    median min mod nth_value ntile nullif octet_length percent_rank percentile pi
    pow power printf quote radians random rank replace round row_number rtrim sign
    sin sinh soundex sqlite_version sqrt strftime string_agg substr substring
    subtype sum tan tanh time timediff total trim trunc typeof unhex unicode
    unixepoch unlikely upper
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())


def read(path: str, sql: str, limits: Limits, deadline: Deadline) -> dict[str, Json]:
    """Columns and rows of the statement.

    Raises `InvalidCall` with SQLite's words when the statement is wrong or would
    do more than read, `TimedOut`, `Transient` while the file is locked, and
    `Fatal` when there is no such database.
    """
    try:
        with closing(_open(path, limits, deadline)) as connection:
            cursor = connection.execute(sql)
            if cursor.description is None:
                raise InvalidCall(f"{ONLY_SELECT}.")
            columns = [column[0] for column in cursor.description]
            return answer(columns, cursor, limits)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _told(error, path) from error


def _open(path: str, limits: Limits, deadline: Deadline) -> sqlite3.Connection:
    if not Path(path).is_file():
        raise Fatal("The database of query_database is not there.")
    connection = sqlite3.connect(
        f"file:{quote(path)}?mode=ro",
        uri=True,
        timeout=min(deadline.remaining(), 5.0),
        isolation_level=None,
    )
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.bytes)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    # These call themselves: with SQLite's own limits they overflow a thread's stack.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, MAX_DEPTH)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, MAX_UNIONS)
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(_authorize)
    connection.set_progress_handler(
        lambda: time.monotonic() > deadline.at, OPERATIONS_BETWEEN_LOOKS
    )
    return connection


def _authorize(
    action: int, first: str | None, second: str | None, *where: str | None
) -> int:
    allowed = (
        action in _READING
        or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and str(first).lower() in _PRAGMAS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _told(error: Exception, path: str) -> StepError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_INTERRUPT:
        return TimedOut("The statement did not end within its deadline.")
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return Transient(f"The database is busy: {error}")
    if code in {sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY}:
        return InvalidCall(f"{ONLY_SELECT}: {error}.")
    if code in {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
    }:
        return Fatal(f"The database cannot be read: {error}")
    return InvalidCall(f"SQL error: {error}.")
