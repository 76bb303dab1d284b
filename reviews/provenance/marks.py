"""Where the values of a call come from: a mark for each value and each figure. Pure.

The rule is a promise in one direction: a mark never says "has a source" of a value
that no source contains as a whole. What may be chance, is rounded, or only looks
like something gets a weaker mark of its own. See docs/decisions.md.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property

from reviews.provenance.figures import (
    Figure,
    figures,
    is_common_text,
    number_of,
    skeleton,
    whole,
)
from reviews.provenance.texts import Text
from runs.canonical import Json

MOST_SEARCHES = 400
"""Words and phrases that are looked for in one call; beyond it nothing is claimed."""
MOST_MARKED = 50_000
MOST_FIGURES = 1_000
"""Of one text: how many characters are looked through, and how many figures marked."""
MAX_PHRASE = 20_000


class Origin(StrEnum):
    """Whose words a source is, from the most to the least suspicious."""

    UNTRUSTED = "untrusted"
    TOOL = "tool"
    TASK = "task"
    PERSON = "person"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        return list(Origin).index(self)


class Kind(StrEnum):
    """What is known of a value. Only SOURCED, WRITTEN and ENTERED are plain."""

    SOURCED = "sourced"
    ENTERED = "entered"
    ROUNDED = "rounded"
    CASE = "case"
    ALIKE = "alike"
    UNCLEAR = "unclear"
    NOWHERE = "nowhere"
    UNSEARCHED = "unsearched"
    WRITTEN = "written"
    TOLD = "told"


@dataclass(frozen=True)
class Source:
    """Something the model had read before it made the call.

    `label` is "the task" or a tool's name, `step` the number of the step that brought
    it. What a call was `asked` with is the model's own, so a result that says it
    again is no source of it, be it this call's result or a later one's.
    """

    origin: Origin
    label: str
    content: Json
    step: int | None = None
    asked: Json = None

    @cached_property
    def text(self) -> Text:
        return Text(self.content)


@dataclass(frozen=True)
class Place:
    """A source in which a value stands."""

    origin: Origin
    label: str
    step: int | None = None

    @property
    def words(self) -> str:
        if self.step is None:
            return self.label
        if self.origin is Origin.UNTRUSTED:
            return f"untrusted content, {self.label}, step {self.step}"
        return f"step {self.step}, {self.label}"


@dataclass(frozen=True)
class Mark:
    """What is said of a value. `places[0]` is the most suspicious of its sources.

    `near` is how a rounded or similar value is written there; `who` entered it.
    """

    kind: Kind
    places: tuple[Place, ...] = ()
    near: str = ""
    who: str = ""

    @property
    def place(self) -> Place | None:
        return self.places[0] if self.places else None

    @property
    def step(self) -> int | None:
        return self.places[0].step if self.places else None

    @property
    def is_untrusted(self) -> bool:
        return bool(self.places) and self.places[0].origin is Origin.UNTRUSTED

    @property
    def tone(self) -> str:
        if self.is_untrusted or self.kind is Kind.ALIKE:
            return "bad"
        return "wait" if self.kind in _DOUBTFUL else ""

    @property
    def icon(self) -> str:
        if self.is_untrusted:
            return "web"
        if self.kind is Kind.SOURCED and self.place is not None:
            return _ICONS[self.place.origin]
        return _KIND_ICONS.get(self.kind, "unknown")

    @property
    def words(self) -> str:
        """The mark as a sentence, without a full stop."""
        return _WORDS[self.kind](self) + self._also()

    @property
    def short(self) -> str:
        """The same where there is little room; `words` say the rest."""
        if self.kind is Kind.SOURCED and self.place is not None:
            return _BRIEF.get(self.place.origin, self.words)
        return self.words.split(":", 1)[0] if self.kind in _EXPLAINED else self.words

    def _also(self) -> str:
        """Where else it stands; a form and the task made from it are one thing."""
        rest = [
            one
            for one in self.places[1:]
            if one.step is not None or one.origin is not self.places[0].origin
        ]
        return f"; also in {' and '.join(p.words for p in rest[:2])}" if rest else ""


def _where(mark: Mark) -> str:
    return mark.place.words if mark.place else "a source"


def _sourced(mark: Mark) -> str:
    if mark.place and mark.place.origin is Origin.ADMIN:
        return f"Set by an admin: {mark.place.label}"
    return f"From {_where(mark)}"


_WORDS: Mapping[Kind, Callable[[Mark], str]] = {
    Kind.SOURCED: _sourced,
    Kind.ENTERED: lambda mark: f"Entered by {mark.who}",
    Kind.ROUNDED: lambda mark: f"Rounded from {mark.near} ({_where(mark)})",
    Kind.CASE: lambda mark: (
        f"Differs in upper and lower case from {mark.near} ({_where(mark)})"
    ),
    Kind.ALIKE: lambda mark: (
        f"Looks like {mark.near} ({_where(mark)}) and is not the same"
    ),
    Kind.UNCLEAR: lambda mark: "No clear source: too short or common to tell",
    Kind.NOWHERE: lambda mark: "Made up by the model: no source has it",
    Kind.UNSEARCHED: lambda mark: "Not found in what was searched",
    Kind.WRITTEN: lambda mark: "Written by the model",
    Kind.TOLD: lambda mark: "Put together by the tool",
}
_BRIEF = {Origin.ADMIN: "Set by an admin"}
_EXPLAINED = {Kind.UNCLEAR, Kind.NOWHERE}
_DOUBTFUL = {Kind.CASE, Kind.NOWHERE, Kind.UNSEARCHED}
_ICONS = {
    Origin.UNTRUSTED: "web",
    Origin.TOOL: "data",
    Origin.TASK: "task",
    Origin.PERSON: "person",
    Origin.ADMIN: "admin",
}
_KIND_ICONS = {
    Kind.ENTERED: "pencil",
    Kind.ROUNDED: "calc",
    Kind.CASE: "changed",
    Kind.ALIKE: "error",
    Kind.WRITTEN: "model",
    Kind.TOLD: "tool",
}


Search = Callable[[Text], object]


@dataclass(frozen=True)
class _Known:
    """A source made ready: its text, and what the call itself had put in."""

    place: Place
    text: Text
    asked: Text | None

    @property
    def step(self) -> int:
        return self.place.step or 0


@dataclass
class Index:
    """The sources of one call, to look values up in.

    `is_cut`: not everything the model had read is here, so nothing is "made up".
    """

    sources: Sequence[_Known]
    is_cut: bool = False
    _seen: dict[tuple[str, str], Mark] = field(default_factory=dict)
    _searches: int = 0

    @cached_property
    def _calls(self) -> list[_Known]:
        """What the model has put into calls, the oldest first."""
        asked = (one for one in self.sources if one.asked is not None)
        return sorted(asked, key=lambda one: one.step)

    @classmethod
    def of(cls, sources: Sequence[Source], *, is_cut: bool = False) -> Index:
        """The most suspicious sources first, and of one kind the oldest."""
        ordered = sorted(sources, key=lambda one: (one.origin.rank, one.step or 0))
        return cls([_known(source) for source in ordered], is_cut)

    def figure(self, figure: Figure) -> Mark:
        """The mark of a figure inside a text."""
        if figure.is_common:
            return Mark(Kind.UNCLEAR)
        written = (figure.text, figure.unit)
        mark = self._seen.get(written)
        if mark is None:
            mark = self._seen[written] = self._look_up(figure)
        return mark

    def value(self, value: Json, key: str = "") -> Mark:
        """The mark of a whole value: a text, a number, yes or no, nothing.

        `key` is the name of its argument. A short or common value has a source only
        where that name carries it.
        """
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, bool) or value is None:
            return self._common(value, key)
        number = number_of(repr(value)) or Decimal(repr(value))
        figure = Figure(0, 0, repr(value), number)
        return self._common(value, key) if figure.is_common else self.figure(figure)

    def _text(self, value: str, key: str) -> Mark:
        words = value.strip()
        if not words or is_common_text(words):
            return self._common(value, key)
        if len(words.split(None, 1)) == 1:
            figure = whole(words)
            common = figure.is_common
            return self._common(value, key) if common else self._word(figure)
        places: tuple[Place, ...] = ()
        if len(words) <= MAX_PHRASE and not self._is_spent():
            places = self._places(lambda text: text.has_phrase(words))
        return Mark(Kind.SOURCED, places) if places else Mark(Kind.WRITTEN)

    def _word(self, figure: Figure) -> Mark:
        if not figure.is_telling and self._is_spent():
            return Mark(Kind.UNSEARCHED)
        return self.figure(figure)

    def _common(self, value: Json, key: str) -> Mark:
        if self._is_spent():
            return Mark(Kind.UNCLEAR)
        places = self._places(lambda text: text.carries(key, value))
        return Mark(Kind.SOURCED, places) if places else Mark(Kind.UNCLEAR)

    def _look_up(self, figure: Figure) -> Mark:
        places = self._places(
            lambda text: text.has(figure), lambda asked: asked.mentions(figure)
        )
        if places:
            return Mark(Kind.SOURCED, places)
        return self._rounded(figure) or self._alike(figure) or self.missing

    @property
    def missing(self) -> Mark:
        """What is said of a value that was not found."""
        is_partial = self.is_cut or any(one.text.is_partial for one in self.sources)
        return Mark(Kind.UNSEARCHED if is_partial else Kind.NOWHERE)

    def _rounded(self, figure: Figure) -> Mark | None:
        if figure.number is None:
            return None
        found = self._giving(lambda text: text.rounded(figure))
        known = next(found, None)
        if known is None:
            return None
        return Mark(Kind.ROUNDED, (known.place,), known.text.rounded(figure))

    def _alike(self, figure: Figure) -> Mark | None:
        """Something in the sources that a reader would take it for."""
        look = skeleton(figure.text)
        plain = whole(look)
        for known in self.sources if figure.number is None else ():
            near = known.text.looks.get(look, "")
            if not near and look != figure.text and known.text.has(plain):
                near = look
            if near and near != figure.text:
                same = near.casefold() == figure.text.casefold()
                kind = Kind.CASE if same else Kind.ALIKE
                return Mark(kind, (known.place,), near)
        return None

    def _places(self, found: Search, said: Search | None = None) -> tuple[Place, ...]:
        return tuple(one.place for one in self._giving(found, said))

    def _giving(self, found: Search, said: Search | None = None) -> Iterator[_Known]:
        """Who has it, and does not only say again what a call before it `said`."""
        own: int | None = None
        for known in self.sources:
            if not found(known.text):
                continue
            if known.asked is not None:
                own = self._said_at(said or found) if own is None else own
                if own <= known.step:
                    continue
            yield known

    def _said_at(self, said: Search) -> int:
        """The first step whose call had it from the model."""
        calls = (one.step for one in self._calls if one.asked and said(one.asked))
        return next(calls, sys.maxsize)

    def _is_spent(self) -> bool:
        self._searches += 1
        return self._searches > MOST_SEARCHES


def _known(source: Source) -> _Known:
    place = Place(source.origin, source.label, source.step)
    asked = None if source.asked is None else Text(source.asked)
    return _Known(place, source.text, asked)


# What is shown of a text, a list, a structure


@dataclass(frozen=True)
class Marked:
    """A figure of a text with its mark."""

    start: int
    end: int
    mark: Mark


def marked(text: str, index: Index) -> list[Marked]:
    """The figures of a text in order; those after `MOST_MARKED` are left out."""
    found = figures(text[:MOST_MARKED])
    return [
        Marked(figure.start, figure.end, index.figure(figure))
        for figure in itertools.islice(found, MOST_FIGURES)
        if figure.end < MOST_MARKED or len(text) <= MOST_MARKED
    ]


def leaves(
    value: Json, key: str = "", path: str = ""
) -> Iterator[tuple[str, str, Json]]:
    """Every value inside, as (path, name of its field, value)."""
    if isinstance(value, dict) and value:
        for name, inside in value.items():
            yield from leaves(inside, name, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value:
        for place, inside in enumerate(value, start=1):
            yield from leaves(inside, key, f"{path}[{place}]" if path else f"{place}")
    else:
        yield path, key, value
