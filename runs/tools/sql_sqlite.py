"""One reading statement on a SQLite file, safely and within a deadline.

It runs in a process of its own (`sqlite_child`), for SQLite bounds neither the
memory nor the temporary files of a statement; that process starts with the
standard library alone, which takes a fraction of a second.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runs.canonical import Json
from runs.errors import Fatal, InvalidCall, StepError, TimedOut, Transient
from runs.tools import sqlite_child
from runs.tools.base import Deadline
from runs.tools.children import Ended, answer_of
from runs.tools.sql import ONLY_SELECT, Limits, answer

_COMMAND = [sys.executable, "-I", "-S", sqlite_child.__file__]
_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "TMPDIR", "SQLITE_TMPDIR")
# Only what is temporary is ever written.
_TOO_MUCH = {sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE}
_UNREADABLE = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_IOERR,
}


def read(path: str, sql: str, limits: Limits, deadline: Deadline) -> dict[str, Json]:
    """Columns and rows of the statement.

    Raises `InvalidCall` with SQLite's words when the statement is wrong, would do
    more than read, or needs too much memory or room; `TimedOut`; `Transient` while
    the file is locked; `Fatal` when there is no such database or it is our own.
    """
    if not Path(path).is_file():
        raise Fatal("The database of query_database is not there.")
    request = {
        "path": path,
        "sql": sql,
        "rows": limits.rows,
        "bytes": limits.bytes,
        "at": deadline.at,
    }
    lines = _lines(_asked(request, limits, deadline))
    return answer(next(lines), lines, limits)


def _asked(request: dict[str, Json], limits: Limits, deadline: Deadline) -> bytes:
    known = os.environ
    ended = answer_of(
        _COMMAND,
        json.dumps(request).encode(),
        deadline,
        most_bytes=sqlite_child.FILE,
        env={name: known[name] for name in _ENVIRONMENT if name in known},
    )
    if ended.code:
        raise _died(ended)
    return ended.answer


def _lines(said: bytes) -> Iterator[Any]:
    """The columns, then the rows; raises what the process said instead."""
    for line in said.splitlines():
        value = json.loads(line)
        if isinstance(value, dict):
            raise _ours(value["code"]) or _told(value["code"], value["error"])
        yield value


def _died(ended: Ended) -> StepError:
    if -ended.code in {signal.SIGXCPU, signal.SIGKILL}:
        return TimedOut("The statement did not end within its deadline.")
    return InvalidCall("The statement needs too much: ask for less at once.")


def _ours(code: int | str) -> StepError | None:
    if code == sqlite_child.OWN:
        return Fatal("query_database does not read the product's own database.")
    return InvalidCall(f"{ONLY_SELECT}.") if code == sqlite_child.NO_ROWS else None


def _told(extended: int, words: str) -> StepError:
    code = extended & 0xFF
    if code == sqlite3.SQLITE_INTERRUPT:
        return TimedOut("The statement did not end within its deadline.")
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return Transient(f"The database is busy: {words}")
    if code in {sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY}:
        return InvalidCall(f"{ONLY_SELECT}: {words}.")
    if {code, extended} & _TOO_MUCH:
        return InvalidCall(f"The statement needs too much ({words}): ask for less.")
    if code in _UNREADABLE:
        return Fatal(f"The database cannot be read: {words}")
    return InvalidCall(f"SQL error: {words}.")
