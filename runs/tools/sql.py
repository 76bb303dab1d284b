"""What reading with SQL has in common on every database: limits and the answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.canonical import Json, clean, dumps

ONLY_SELECT = "Only one statement that reads is possible: SELECT, WITH … SELECT, VALUES"


@dataclass(frozen=True)
class Limits:
    """How much of an answer is read: rows, and bytes of their JSON."""

    rows: int = 1_000
    bytes: int = 1_000_000

    @classmethod
    def of(cls, settings: Mapping[str, Json]) -> Limits:
        """An admin's `max_rows` and `max_bytes`, else the defaults."""
        return cls(
            rows=int(settings.get("max_rows", cls.rows)),
            bytes=int(settings.get("max_bytes", cls.bytes)),
        )


def answer(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], limits: Limits
) -> dict[str, Json]:
    """The table as JSON; `truncated` when rows were left out at a limit."""
    kept: list[Json] = []
    room = limits.bytes
    truncated = False
    for row in rows:
        cleaned = clean(list(row))
        room -= len(dumps(cleaned).encode())
        truncated = len(kept) == limits.rows or room < 0
        if truncated:
            break
        kept.append(cleaned)
    return {
        "columns": clean(list(columns)),
        "rows": kept,
        "row_count": len(kept),
        "truncated": truncated,
    }
