"""What requests write: every statement that changes a row, of any table.

    with writes.watched() as done:
        client.post(...)
    assert done() == []

What is rolled back to a savepoint does not count, nor what finds no row to change.
Sessions come and go with who signs in and out; they are no data of anybody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

OF_SESSIONS = {"django_session"}
_CHANGE = re.compile(
    r'\s*(?:WITH\b.*?\b)?(INSERT (?:OR IGNORE )?INTO|UPDATE|DELETE FROM)\s+"?(\w+)',
    re.IGNORECASE | re.DOTALL,
)
_POINT = re.compile(r'\s*SAVEPOINT\s+"?(\w+)', re.IGNORECASE)
_BACK = re.compile(r'\s*ROLLBACK TO SAVEPOINT\s+"?(\w+)', re.IGNORECASE)


@contextmanager
def watched() -> Iterator[Callable[[], list[str]]]:
    """Gives a function that tells the tables written to so far, in order."""
    seen: list[tuple[str, str]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if back := _BACK.match(sql):
            del seen[seen.index(("point", back[1])) + 1 :]
        result = execute(sql, params, many, context)
        if point := _POINT.match(sql):
            seen.append(("point", point[1]))
        if changed := _CHANGE.match(sql):
            # Of an INSERT that returns its row SQLite does not tell the number.
            is_new = changed[1].upper().startswith("INSERT")
            if is_new or context["cursor"].rowcount != 0:
                seen.append(("table", changed[2]))
        return result

    with connection.execute_wrapper(note):
        yield lambda: [
            name for what, name in seen if what == "table" and name not in OF_SESSIONS
        ]
