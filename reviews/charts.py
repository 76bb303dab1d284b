"""Pictures for why a run is parked: a budget's bar, the growth a rule speaks of.

Pure. A chart is drawn only from what a tool really answered, and only where there
is one series it can be about; nothing is guessed.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from reviews.passing import amount
from runs.blocks import as_table, label, said
from runs.canonical import Json
from runs.models import Step
from runs.states import StepKind, StepStatus

GROWTH = re.compile(
    r"\bgrow(?:s|th)?\b[^.;]*?\b(?:more than|above|over)\s+(\d+(?:\.\d+)?)\s*(?:%|percent)",
    re.IGNORECASE,
)
MONTH = re.compile(r"^(\d{4})-(0[1-9]|1[0-2])$")
MOST_COLUMNS, MOST_NAMED = 12, 3
WIDTH, BASE, TOP, EDGE, THICK = 272, 112, 33, 12, 40
CHANGE_AT = 90
TENTH = Decimal("0.1")


@dataclass(frozen=True)
class Burn:
    """A budget in percent of the picture's width: what is used and what is needed."""

    used: float
    reserved: float
    limit: float
    in_words: str


def burn(figures: Mapping[str, Any]) -> Burn | None:
    """None where the figures are not those of a budget."""
    used, needed = amount(figures.get("used")), amount(figures.get("needed"))
    limit = amount(figures.get("limit"))
    if used is None or needed is None or not limit or limit < 0:
        return None
    whole = max(limit, used + needed)
    return Burn(
        used=_percent(used, whole),
        reserved=_percent(needed, whole),
        limit=_percent(limit, whole),
        in_words=(
            f"{figures['used']} used, {figures['needed']} reserved for the next call,"
            f" limit {figures['limit']}"
        ),
    )


def _percent(part: Decimal, whole: Decimal) -> float:
    return float((part / whole * 100).quantize(TENTH, ROUND_HALF_UP))


@dataclass(frozen=True)
class Column:
    """One bar; texts that are "" are not drawn. Lengths in the picture's units."""

    x: float
    y: float
    thick: float
    height: float
    name: str
    value: str
    change: str
    is_flagged: bool
    gap: float

    @property
    def middle(self) -> float:
        return round(self.x + self.thick / 2, 1)

    @property
    def above(self) -> float:
        return self.y - 8

    @property
    def change_x(self) -> float:
        """Between two bars where there is room, else above the bar."""
        return round(self.x - self.gap / 2, 1) if self.value else self.middle

    @property
    def change_y(self) -> float:
        return CHANGE_AT if self.value else self.above


@dataclass(frozen=True)
class Chart:
    """`in_words` says all that is drawn; the figures are those of `step`."""

    columns: Sequence[Column]
    step: int
    in_words: str


def growth(rules: Iterable[str], steps: Iterable[Step]) -> Chart | None:
    """The figures that a rule about growth looked at, if they are clear."""
    limits = {Decimal(found[1]) for found in map(GROWTH.search, rules) if found}
    found = list(_series(steps))
    names = {tuple(one.points) for one in found}
    if len(limits) != 1 or len(names) != 1:
        return None
    return _drawn(found[-1], limits.pop())


@dataclass(frozen=True)
class Series:
    """(month, amount) in order, the column's name, and the step that read it."""

    points: Sequence[tuple[str, Decimal]]
    name: str
    step: int


def _series(steps: Iterable[Step]) -> Iterable[Series]:
    for step in steps:
        is_answer = step.kind == StepKind.TOOL and step.status == StepStatus.SUCCEEDED
        if is_answer and not said(step).get("is_error"):
            table = as_table(said(step).get("result"))
            found = table and _one_series(table.columns, table.rows, step.number)
            if found:
                yield found


def _one_series(
    columns: Sequence[str], rows: Sequence[Sequence[Json]], step: int
) -> Series | None:
    """Months in order in one column, amounts in one other, and nothing that varies."""
    if not 2 <= len(rows) <= MOST_COLUMNS or any(len(r) != len(columns) for r in rows):
        return None
    values = list(zip(*rows, strict=True))
    months = [n for n, column in enumerate(values) if all(map(_is_month, column))]
    amounts = [n for n, column in enumerate(values) if all(map(_is_amount, column))]
    rest = set(range(len(columns))) - {*months, *amounts}
    varies = any(len(set(map(str, values[n]))) > 1 for n in rest)
    if len(months) != 1 or len(amounts) != 1 or varies:
        return None
    order = [str(month) for month in values[months[0]]]
    if order != sorted(set(order)):
        return None
    figures = [Decimal(str(value)) for value in values[amounts[0]]]
    return Series(list(zip(order, figures, strict=True)), columns[amounts[0]], step)


def _is_month(value: Json) -> bool:
    return isinstance(value, str) and MONTH.match(value) is not None


def _is_amount(value: Json) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and value > 0


def _drawn(series: Series, limit: Decimal) -> Chart:
    most = max(value for _, value in series.points)
    number = len(series.points)
    pitch = (WIDTH - 2 * EDGE) / number if number > MOST_NAMED else 0
    thick = pitch * 0.6 if pitch else THICK
    apart = (WIDTH - 2 * EDGE - thick) / (number - 1)
    is_named = number <= MOST_NAMED
    columns, spoken = [], []
    before: Decimal | None = None
    for place, (month, value) in enumerate(series.points):
        change = None if before is None else (value / before - 1) * 100
        is_flagged = change is not None and change > limit
        height = float(value / most) * (BASE - TOP)
        columns.append(
            Column(
                x=round(EDGE + place * apart, 1),
                y=round(BASE - height, 1),
                thick=round(thick, 1),
                height=round(height, 1),
                name=calendar.month_abbr[int(month[-2:])],
                value=f"{value:,}" if is_named else "",
                change=_change(change) if is_named or is_flagged else "",
                is_flagged=is_flagged,
                gap=round(apart - thick, 1),
            )
        )
        spoken.append(_spoken(month, value, change, limit))
        before = value
    return Chart(
        columns=columns,
        step=series.step,
        in_words=f"{label(series.name)}: {'; '.join(spoken)}",
    )


def _change(change: Decimal | None) -> str:
    if change is None:
        return ""
    return f"{change.quantize(TENTH, ROUND_HALF_UP):+f} %"


def _spoken(month: str, value: Decimal, change: Decimal | None, limit: Decimal) -> str:
    text = f"{calendar.month_name[int(month[-2:])]} {month[:4]} {value:,}"
    if change is None:
        return text
    direction = "up" if change >= 0 else "down"
    size = abs(change).quantize(TENTH, ROUND_HALF_UP)
    above = f", above the rule's {limit} percent" if change > limit else ""
    return f"{text}, {direction} {size} percent{above}"
