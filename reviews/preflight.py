"""What a decision on many items would do, before anything is decided. Reads only.

One table a group of look-alikes: what all have in common above it, what differs in
columns, those that stand out apart and not ticked; then what is left out, and why.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User

from reviews import alike, bulk, inbox
from reviews.decisions import registry
from reviews.decisions.base import DecisionForm
from reviews.models import Review
from runs.blocks import label, plain
from runs.canonical import Json, dumps
from runs.states import ParkReason
from runs.tools.base import titled

LONG = 80


@dataclass(frozen=True)
class Cell:
    """A value of an argument; `is_odd` where it is what stands out."""

    name: str
    text: str
    is_odd: bool = False

    @property
    def is_long(self) -> bool:
        return len(self.text) > LONG or "\n" in self.text


@dataclass(frozen=True)
class Line:
    """An item that the decision would be made on, if it is ticked."""

    row: inbox.Row
    cells: Sequence[Cell]
    is_ticked: bool
    is_odd: bool

    @property
    def review(self) -> Review:
        return self.row.review

    @property
    def value(self) -> str:
        return bulk.Item.of(self.review).text


@dataclass(frozen=True)
class Section:
    """Look-alikes: `same` is what they have in common, `columns` names the rest."""

    title: str
    words: str
    same: Sequence[Cell]
    columns: Sequence[str]
    lines: Sequence[Line]
    odd: Sequence[Line]

    @property
    def width(self) -> int:
        """Columns of its table."""
        return len(self.columns) + 5


@dataclass(frozen=True)
class Left:
    """An item that is left out, and why."""

    row: inbox.Row
    cause: str


@dataclass(frozen=True)
class Choice:
    """A decision that can be made here; `number` of the items it may be made on."""

    kind: str
    words: str
    number: int
    is_here: bool


@dataclass(frozen=True)
class Missing:
    """A decision that fits the items one by one, but none of them together."""

    words: str
    cause: str


@dataclass(frozen=True)
class Asked:
    """What is asked for: `shown` had a box to tick, `picked` were ticked.

    `entered` is what was typed into the form of a decision, as a browser sends it.
    """

    ids: Sequence[UUID]
    kind: str = ""
    entered: Mapping[str, str] = field(default_factory=dict)
    shown: Collection[UUID] = field(default_factory=frozenset)
    picked: Collection[UUID] = field(default_factory=frozenset)


@dataclass(frozen=True)
class Preflight:
    kind: str
    choices: Sequence[Choice]
    missing: Sequence[Missing]
    sections: Sequence[Section]
    left: Sequence[Left]
    form: DecisionForm | None
    beyond: int = 0
    """How many more were asked for than a batch takes."""

    @property
    def lines(self) -> list[Line]:
        return [x for one in self.sections for x in (*one.lines, *one.odd)]

    @property
    def rows(self) -> list[inbox.Row]:
        """Every item that was asked for and is there."""
        return [line.row for line in self.lines] + [one.row for one in self.left]

    @property
    def ticked(self) -> int:
        return sum(line.is_ticked for line in self.lines)

    @property
    def verb(self) -> str:
        return registry.find(self.kind).verb

    @property
    def is_danger(self) -> bool:
        return registry.find(self.kind).is_danger


def of(
    asked: Asked, user: User, now: datetime, wrong: Mapping[str, str] | None = None
) -> Preflight:
    """Sort the items into what can be decided and what is left out; two queries.

    Of more than `bulk.MOST` items the first ones are taken. `wrong` is what a
    decision that was sent is refused for, by field.
    """
    wanted = list(dict.fromkeys(asked.ids))
    reviews = bulk.found(wanted[: bulk.MOST], user)
    here = [reviews[pk] for pk in wanted if pk in reviews]
    kinds = [kind.kind for kind in registry.for_many()]
    causes = {
        kind: {r.pk: bulk.why_not(r, kind, user, now) for r in here} for kind in kinds
    }
    choices = _choices(causes, asked.kind)
    kind = next(one.kind for one in choices if one.is_here)
    out = causes[kind]
    rows = [inbox.row(review, user, now) for review in here]
    fit = [row for row in rows if not out[row.review.pk]]
    return Preflight(
        kind=kind,
        choices=choices,
        missing=_missing(causes, here),
        sections=_sections(fit, asked),
        left=[Left(row, out[row.review.pk]) for row in rows if out[row.review.pk]],
        form=_form(kind, fit[0].review, asked.entered, wrong) if fit else None,
        beyond=max(0, len(wanted) - bulk.MOST),
    )


def _form(
    kind: str,
    review: Review,
    entered: Mapping[str, str],
    wrong: Mapping[str, str] | None,
) -> DecisionForm:
    """The kind's own form, once for all items; what was typed for another is kept."""
    decision = registry.find(kind)
    if wrong is None:
        form = decision.form(review)
        words = entered.get("text") or entered.get("note") or ""
        form.initial = {**entered, "text": words, "note": words}
        return form
    form = decision.form(review, entered)
    if form.is_valid():
        for name, text in wrong.items():
            form.add_error(name if name in form.fields else None, text)
    return form


def _choices(causes: Mapping[str, Mapping[UUID, str]], wanted: str) -> list[Choice]:
    """Those that fit an item; the one asked for, else the first of them."""
    fit = {kind: sum(not why for why in causes[kind].values()) for kind in causes}
    usual = next((kind for kind in fit if fit[kind]), next(iter(fit)))
    here = wanted if wanted in fit else usual
    return [
        Choice(kind, registry.find(kind).verb, number, kind == here)
        for kind, number in fit.items()
        if number or kind == here
    ]


def _missing(
    causes: Mapping[str, Mapping[UUID, str]], here: Sequence[Review]
) -> list[Missing]:
    """What people would look for and not find, with the cause of the first item."""
    found = []
    for kind, why in causes.items():
        decision = registry.find(kind)
        apart = [review for review in here if decision.offered(review)]
        if apart and all(why.values()):
            found.append(Missing(decision.verb, why[apart[0].pk]))
    return found


def _sections(rows: Iterable[inbox.Row], asked: Asked) -> list[Section]:
    """One a shape, the largest first."""
    by_shape: dict[str, list[inbox.Row]] = {}
    for row in rows:
        by_shape.setdefault(row.review.shape or str(row.review.pk), []).append(row)
    ordered = sorted(by_shape.values(), key=len, reverse=True)
    return [_section(group, asked) for group in ordered]


def _section(group: Sequence[inbox.Row], asked: Asked) -> Section:
    first = group[0].review
    is_stopped = ParkReason(first.reason) in alike.STOPPED
    given = [(row.review.proposal or {}).get("arguments", {}) for row in group]
    compared = alike.compare(given)
    odd = {} if is_stopped else compared.outliers
    lines = [
        _line(row, compared.differing, odd.get(place, ()), asked)
        for place, row in enumerate(group)
    ]
    return Section(
        title=titled(first.tool) if first.tool else group[0].reason,
        words=_words(compared, is_stopped),
        same=[_cell(name, given[0]) for name in compared.same],
        columns=[label(name) for name in compared.differing],
        lines=[line for line in lines if not line.is_odd],
        odd=[line for line in lines if line.is_odd],
    )


def _words(compared: alike.Comparison, is_stopped: bool) -> str:
    if compared.size == 1:
        return "one of its kind"
    return f"{compared.size} alike" if is_stopped else compared.words


def _line(
    row: inbox.Row, columns: Sequence[str], odd: Sequence[str], asked: Asked
) -> Line:
    given = (row.review.proposal or {}).get("arguments", {})
    pk = row.review.pk
    return Line(
        row=row,
        cells=[_cell(name, given, name in odd) for name in columns],
        is_ticked=pk in asked.picked if pk in asked.shown else not odd,
        is_odd=bool(odd),
    )


def _cell(name: str, given: Mapping[str, Json], is_odd: bool = False) -> Cell:
    text = _short(given[name]) if name in given else "not given"
    return Cell(label(name), text, is_odd)


def _short(value: Json) -> str:
    """As other pages show it, but what fits one line on one line."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value) or "none"
    if isinstance(value, dict | list):
        line = dumps(value)
        return line if len(line) <= LONG else plain(value)
    return plain(value)
