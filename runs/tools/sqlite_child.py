"""The process that carries out one reading statement on a SQLite file.

Run as a program, with the standard library alone: `sql_sqlite` starts it. The
kernel bounds its memory, its temporary files and its time, which SQLite itself
cannot; an authorizer sees each thing the statement would do when it is compiled,
and refuses all but reading.

One JSON object is its input (`path`, `sql`, `rows`, `bytes`, `at`). Lines of JSON are
its output: the columns, then each row; or an object with `error` and `code`.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import resource
import sqlite3
import sys
import time
from typing import Any
from urllib.parse import quote

MEMORY = 512 * 1024 * 1024
FILE = 256 * 1024 * 1024
OPERATIONS_BETWEEN_LOOKS = 5_000
MAX_DEPTH = 200
MAX_UNIONS = 50
MAX_PATTERN = 500
BUSY_S = 5.0
OUR_TABLE = "runs_run"
OWN, NO_ROWS = "own", "no rows"
"""Codes of ours: the database is the product's; the statement gives no table."""

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


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    _bound(request["at"] - time.monotonic())
    try:
        with contextlib.closing(_open(request)) as connection:
            _read(connection, request)
    except (sqlite3.Error, sqlite3.Warning) as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        _say({"error": str(error), "code": code})
    except MemoryError:
        _say({"error": "out of memory", "code": sqlite3.SQLITE_NOMEM})


def _bound(seconds: float) -> None:
    """What the kernel allows from here on, where it knows such a limit."""
    limits = {
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_FSIZE: FILE,
        resource.RLIMIT_CPU: max(1, math.ceil(seconds) + 1),
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or limit < hard:
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(kind, (limit, limit))


def _open(request: dict[str, Any]) -> sqlite3.Connection:
    left = request["at"] - time.monotonic()
    connection = sqlite3.connect(
        f"file:{quote(request['path'])}?mode=ro",
        uri=True,
        # Not all of it: a locked file is told while somebody listens.
        timeout=max(0.0, min(left / 2, BUSY_S)),
        isolation_level=None,
    )
    connection.text_factory = lambda raw: raw.decode(errors="replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, request["bytes"])
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    # These call themselves: with SQLite's own limits they overflow a small stack.
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN)
    connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, MAX_DEPTH)
    connection.setlimit(sqlite3.SQLITE_LIMIT_COMPOUND_SELECT, MAX_UNIONS)
    for pragma in ("query_only = ON", "trusted_schema = OFF", "temp_store = FILE"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _read(connection: sqlite3.Connection, request: dict[str, Any]) -> None:
    ours = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    if connection.execute(ours, [OUR_TABLE]).fetchone():
        _say({"error": "", "code": OWN})
        return
    connection.set_authorizer(_authorize)
    at = request["at"]
    connection.set_progress_handler(
        lambda: time.monotonic() > at, OPERATIONS_BETWEEN_LOOKS
    )
    cursor = connection.execute(request["sql"])
    if cursor.description is None:
        _say({"error": "", "code": NO_ROWS})
        return
    _say([column[0] for column in cursor.description])
    # Who asked counts the bytes; no more than twice of them is surely enough.
    room = 2 * request["bytes"]
    for _, row in zip(range(request["rows"] + 1), cursor, strict=False):
        room -= _say([_plain(value) for value in row])
        if room < 0:
            break


def _authorize(
    action: int, first: str | None, second: str | None, *where: str | None
) -> int:
    allowed = (
        action in _READING
        or (action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _FUNCTIONS)
        or (action == sqlite3.SQLITE_PRAGMA and str(first).lower() in _PRAGMAS)
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return "base64:" + base64.b64encode(value).decode()
    return value


def _say(value: Any) -> int:
    line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    raw = line.encode(errors="replace")
    sys.stdout.buffer.write(raw + b"\n")
    return len(raw)


if __name__ == "__main__":
    main()
