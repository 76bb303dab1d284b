"""What was killed, how often, and what was seen: one table."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

HEAD = ("Killed", "Kills", "Seen")
POINT = "point: "


@dataclass
class Row:
    """One role or point. `back_s`: until what stood still had moved on."""

    kills: int = 0
    back_s: list[float] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    @property
    def words(self) -> str:
        parts = [f"{number} {name}" for name, number in self.seen.items() if number]
        if self.back_s:
            middle, last = statistics.median(self.back_s), max(self.back_s)
            parts.append(f"on again after {middle:.1f} s, at most {last:.1f} s")
        return "; ".join(parts)

    def add(self, other: Row) -> None:
        self.kills += other.kills
        self.back_s += other.back_s
        self.seen.update(other.seen)


class Tally:
    """Rows by role or point, and every invariant that broke; `say` hears of each."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self.say = say
        self.roles: dict[str, Row] = {}
        self.points: dict[str, Row] = {}
        self.broken: list[str] = []
        self.totals: dict[str, object] = {}

    def role(self, name: str) -> Row:
        return self.roles.setdefault(name, Row())

    def point(self, name: str) -> Row:
        return self.points.setdefault(f"{POINT}{name}", Row())

    @property
    def kills(self) -> int:
        return sum(row.kills for row in (*self.roles.values(), *self.points.values()))

    def broke(self, where: str, what: object) -> None:
        self.broken.append(f"{where}: {what}")
        self.say(f"BROKEN {self.broken[-1]}")

    def lines(self) -> Iterator[str]:
        """A Markdown table of roles and of all points as one, the points one by one
        below it, then the totals and what broke."""
        every = Row()
        for row in self.points.values():
            every.add(row)
        yield from _table(
            {**_sorted(self.roles), f"a child, at {len(self.points)} points": every}
        )
        yield ""
        yield from _table(_sorted(self.points))
        yield ""
        yield from (f"{name}: {value}" for name, value in self.totals.items())
        yield f"invariants broken: {len(self.broken)}"
        yield from (f"BROKEN {words}" for words in self.broken)


def _sorted(rows: Mapping[str, Row]) -> dict[str, Row]:
    return dict(sorted(rows.items()))


def _table(rows: Mapping[str, Row]) -> Iterator[str]:
    cells = [HEAD, *((n, str(r.kills or "—"), r.words) for n, r in rows.items())]
    widths = [max(len(row[at]) for row in cells) for at in range(len(HEAD))]
    for number, row in enumerate(cells):
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"| {' | '.join(padded)} |"
        if number == 0:
            yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"
