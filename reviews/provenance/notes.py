"""The marks of one text in a few words: how many figures have which source. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reviews.provenance.marks import MOST_FIGURES, MOST_MARKED, Kind, Mark

MOST_STEPS = 5


@dataclass(frozen=True)
class Note:
    """One line: words, and the steps they speak of."""

    icon: str
    words: str
    tone: str = ""
    steps: tuple[int, ...] = ()

    @property
    def joint(self) -> str:
        return " " if self.words.endswith(" from") else ", "


def notes(figures: Sequence[Mark], length: int) -> list[Note]:
    """What is said of the figures of a text of that many characters."""
    found = list(_of_figures(figures))
    if length > MOST_MARKED or len(figures) >= MOST_FIGURES:
        words = f"Figures after the first {len(figures):,} are not marked"
        found.append(Note("unknown", words, "wait"))
    return found


def _of_figures(marks: Sequence[Mark]) -> Iterator[Note]:
    for icon, tone, fits, words in _GROUPS:
        chosen = [mark for mark in marks if fits(mark)]
        if chosen:
            steps = sorted({mark.step for mark in chosen if mark.step is not None})
            said = words(chosen)
            yield Note(icon, said, tone, tuple(steps[:MOST_STEPS]))


def _count(chosen: Sequence[Mark], one: str = "figure") -> str:
    return f"{len(chosen)} {one}" if len(chosen) == 1 else f"{len(chosen)} {one}s"


def _verb(chosen: Sequence[Mark], one: str, more: str) -> str:
    return one if len(chosen) == 1 else more


def _from_labels(chosen: Sequence[Mark]) -> str:
    labels = dict.fromkeys(mark.place.label for mark in chosen if mark.place)
    return f"{_count(chosen)} from {' and '.join(labels)}"


def _is_plain(kind: Kind) -> Callable[[Mark], bool]:
    return lambda mark: mark.kind is kind and not mark.is_untrusted


_GROUPS: Sequence[
    tuple[str, str, Callable[[Mark], bool], Callable[[Sequence[Mark]], str]]
] = (
    (
        "web",
        "bad",
        lambda mark: mark.is_untrusted and mark.kind is not Kind.ALIKE,
        lambda chosen: f"{_count(chosen)} from untrusted content",
    ),
    (
        "error",
        "bad",
        lambda mark: mark.kind is Kind.ALIKE,
        lambda chosen: (
            f"{len(chosen)} only {_verb(chosen, 'looks', 'look')} like"
            " what a source has"
        ),
    ),
    (
        "data",
        "",
        lambda mark: _is_plain(Kind.SOURCED)(mark) and mark.step is not None,
        lambda chosen: f"{_count(chosen)} from",
    ),
    (
        "task",
        "",
        lambda mark: _is_plain(Kind.SOURCED)(mark) and mark.step is None,
        _from_labels,
    ),
    (
        "calc",
        "",
        _is_plain(Kind.ROUNDED),
        lambda chosen: f"{_count(chosen)} rounded",
    ),
    (
        "changed",
        "wait",
        _is_plain(Kind.CASE),
        lambda chosen: f"{_count(chosen)} in other upper and lower case",
    ),
    (
        "unknown",
        "wait",
        lambda mark: mark.kind is Kind.NOWHERE,
        lambda chosen: f"{_count(chosen)} {_verb(chosen, 'has', 'have')} no source",
    ),
    (
        "unknown",
        "wait",
        lambda mark: mark.kind is Kind.UNSEARCHED,
        lambda chosen: f"{_count(chosen)} not found in what was searched",
    ),
    (
        "unknown",
        "",
        lambda mark: mark.kind is Kind.UNCLEAR,
        lambda chosen: f"{_count(chosen, 'short figure')} without a clear source",
    ),
)
