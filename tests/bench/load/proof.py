"""Nothing lost and nothing doubled: what people were told, the rows, and the mails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reviews.models import Decision
from runs.models import Effect
from tests.bench.load.book import Book
from tests.support import sound
from tests.support.outside.servers import Outside

ACTS = {"approve", "edit"}


def broken(book: Book, outside: Outside) -> Iterator[str]:
    """Each thing that is not as it has to be. Reads only; all runs have come to rest."""
    yield from book.troubles
    yield from _of_decisions(book)
    yield from _of_mails(outside)
    yield from sound.broken()


def _of_decisions(book: Book) -> Iterator[str]:
    rows = Decision.objects.filter(undone_at=None)
    known = Counter(
        (str(review), name, kind)
        for review, name, kind in rows.values_list(
            "review_id", "actor__username", "kind"
        )
    )
    told = Counter((review, name, kind) for review, name, kind in book.decisions)
    for lost in (told - known).elements():
        yield f"a decision was lost: {lost}"
    for more in (known - told).elements():
        yield f"a decision that nobody was told of: {more}"
    for review, number in Counter(review for review, _, _ in known.elements()).items():
        if number > 1:
            yield f"review {review} was decided {number} times"


def _of_mails(outside: Outside) -> Iterator[str]:
    """One for each decision to send, none for any other call."""
    sent: Counter[str] = Counter()
    for (_, key), number in outside.counts().items():
        sent[key] += number
    keys = dict(Effect.objects.values_list("key", "run_id"))
    wanted = Counter(
        Decision.objects.filter(undone_at=None, kind__in=ACTS).values_list(
            "review__run_id", flat=True
        )
    )
    happened = Counter(keys[key] for key, number in sent.items() if key in keys)
    for key, number in sent.items():
        if key in keys and number > 1:
            yield f"the mail {key} went out {number} times"
    for run in wanted | happened:
        if wanted[run] != happened[run]:
            yield f"run {run}: {wanted[run]} mails approved, {happened[run]} sent"
