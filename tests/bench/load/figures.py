"""The tables of docs/reliability.md, and whether they are good enough."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from tests.bench.load.book import Book
from tests.bench.load.watch import Part

MOST_MS = 300.0
MOST_GROWTH = 1.10
PAGES = ("inbox", "pane", "item", "runs", "run", "new")


def report(book: Book, parts: Sequence[Part], seconds: float) -> Iterator[str]:
    yield "| request | number | middle ms | p95 ms | p99 ms | longest ms |"
    yield "|---|---:|---:|---:|---:|---:|"
    kinds = sorted({what for what, _ in book.requests})
    yield _row("all pages", times(book, *PAGES))
    for kind in kinds:
        yield _row(kind, times(book, kind))
    yield f"\n{len(book.requests) / seconds:.0f} requests a second.\n"
    yield "| part | MB, second quarter | MB, last quarter | cores |"
    yield "|---|---:|---:|---:|"
    for part in parts:
        figures = f"{part.first_mb:.0f} | {part.last_mb:.0f} | {part.cores:.2f}"
        yield f"| {part.name} | {figures} |"
    yield f"| the people | | | {book.cpu_s / seconds:.2f} |"


def too_much(book: Book, parts: Sequence[Part]) -> Iterator[str]:
    late = _percentile(times(book, *PAGES), 95)
    if late > MOST_MS:
        yield f"95 % of the pages come within {late:.0f} ms, asked are {MOST_MS:.0f}"
    for part in parts:
        if part.is_ours and part.last_mb > part.first_mb * MOST_GROWTH:
            grown = f"{part.first_mb:.0f} to {part.last_mb:.0f} MB"
            yield f"the memory of {part.name} grew from {grown}"


def times(book: Book, *kinds: str) -> list[float]:
    """Milliseconds of these kinds of requests, in order of size."""
    return sorted(1000 * seconds for what, seconds in book.requests if what in kinds)


def _row(name: str, found: list[float]) -> str:
    if not found:
        return f"| {name} | 0 | | | | |"
    p95, p99 = _percentile(found, 95), _percentile(found, 99)
    middle, most = statistics.median(found), found[-1]
    return (
        f"| {name} | {len(found)} | {middle:.0f} | {p95:.0f} | {p99:.0f} | {most:.0f} |"
    )


def _percentile(found: list[float], share: int) -> float:
    return found[min(len(found) - 1, len(found) * share // 100)] if found else 0.0
