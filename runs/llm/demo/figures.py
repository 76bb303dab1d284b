"""Monthly figures found in tool results, their growth, and a table of them."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from runs.canonical import Json
from runs.llm.demo.talk import values_in

TENTH = Decimal("0.1")


@dataclass(frozen=True)
class Month:
    """A month ("2024-07"), its revenue, and its growth over the one before in %."""

    month: str
    revenue: Decimal
    growth: Decimal | None = None

    @property
    def name(self) -> str:
        number = self.month[5:7]
        is_month = number.isdigit() and 1 <= int(number) <= 12
        return calendar.month_name[int(number)] if is_month else self.month


def months_in(value: Json) -> list[Month]:
    """The months anywhere inside, by date, each with its growth.

    Takes rows as objects, or as lists below `columns`, also inside of text. What
    comes later replaces what came before.
    """
    found: dict[str, Decimal] = {}
    for row in rows_in(value):
        month, revenue = row.get("month"), _number(row.get("revenue"))
        if month is not None and revenue is not None:
            found[str(month)[:7]] = revenue
    return list(_with_growth(sorted(found.items())))


def rows_in(value: Json) -> Iterator[dict[str, Json]]:
    """Every table row inside, as an object with lower-case names."""
    if isinstance(value, str):
        for inner in values_in(value):
            yield from rows_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from rows_in(inner)
    elif isinstance(value, Mapping):
        yield from _rows_of(value)


def _rows_of(value: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    columns, rows = value.get("columns"), value.get("rows")
    if isinstance(columns, list) and isinstance(rows, list):
        names = [str(column).lower() for column in columns]
        for row in rows:
            if isinstance(row, list):
                yield dict(zip(names, row, strict=False))
            elif isinstance(row, Mapping):
                yield {str(name).lower(): cell for name, cell in row.items()}
        return
    yield {str(name).lower(): cell for name, cell in value.items()}
    for inner in value.values():
        yield from rows_in(inner)


def _with_growth(rows: Iterable[tuple[str, Decimal]]) -> Iterator[Month]:
    before: Decimal | None = None
    for month, revenue in rows:
        yield Month(month, revenue, percent(before, revenue))
        before = revenue


def percent(before: Decimal | None, now: Decimal) -> Decimal | None:
    """Growth in %, to a tenth; None where there is nothing to compare with."""
    if not before:
        return None
    growth = (now - before) / before * 100
    return growth.quantize(TENTH, rounding=ROUND_HALF_UP)


def above(months: Sequence[Month], limit: Decimal) -> list[Month]:
    return [m for m in months if m.growth is not None and m.growth > limit]


def table(months: Sequence[Month], limit: Decimal, flag: str = "anomalous") -> str:
    lines = ["| Month | Revenue | Growth | Flag |", "|---|--:|--:|---|"]
    flagged = above(months, limit)
    for month in months:
        growth = "" if month.growth is None else f"{month.growth:+} %"
        mark = flag if month in flagged else ""
        lines.append(f"| {month.name} | {amount(month.revenue)} | {growth} | {mark} |")
    return "\n".join(lines)


def amount(value: Decimal) -> str:
    whole = value.to_integral_value()
    return f"{whole:,}" if whole == value else f"{value:,}"


def _number(value: Json) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value).replace(",", ""))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
