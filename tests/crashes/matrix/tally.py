"""What was killed, how often, and what was seen: one table."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

HEAD = ("Killed", "Kills", "Seen")


@dataclass
class Row:
    """One role or point. `back_s`: until what stood still had moved on."""

    kills: int = 0
    back_s: list[float] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def words(self) -> str:
        parts = [f"{number} {name}" for name, number in self.seen.items() if number]
        if self.back_s:
            middle, last = statistics.median(self.back_s), max(self.back_s)
            parts.append(f"on again after {middle:.1f} s, at most {last:.1f} s")
        return "; ".join(parts)


class Tally:
    """Rows by role or point, and every invariant that broke; `say` hears of each."""

    def __init__(self, say: Callable[[str], None] = lambda _: None) -> None:
        self.say = say
        self.rows: dict[str, Row] = defaultdict(Row)
        self.broken: list[str] = []
        self.totals: dict[str, object] = {}

    @property
    def kills(self) -> int:
        return sum(row.kills for row in self.rows.values())

    def broke(self, where: str, what: object) -> None:
        self.broken.append(f"{where}: {what}")
        self.say(f"BROKEN {self.broken[-1]}")

    def lines(self) -> Iterator[str]:
        """A Markdown table, then the totals, then what broke."""
        cells = [HEAD, *((n, str(r.kills or "—"), r.words) for n, r in self._ordered())]
        widths = [max(len(row[at]) for row in cells) for at in range(len(HEAD))]
        for number, row in enumerate(cells):
            padded = (
                cell.ljust(width) for cell, width in zip(row, widths, strict=True)
            )
            yield f"| {' | '.join(padded)} |"
            if number == 0:
                yield f"|{'|'.join('-' * (width + 2) for width in widths)}|"
        yield ""
        yield from (f"{name}: {value}" for name, value in self.totals.items())
        yield f"invariants broken: {len(self.broken)}"
        yield from (f"BROKEN {words}" for words in self.broken)

    def _ordered(self) -> list[tuple[str, Row]]:
        return sorted(self.rows.items(), key=lambda item: ("point" in item[0], item[0]))
