"""What reviewers write to each other at an item; the agent never reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from agentops import clock
from reviews.models import Note, Review
from reviews.models.desk import NoteKind
from runs.canonical import clean_text
from runs.errors import BadInput

MAX_TEXT = 2000
SHOWN = 100


@dataclass(frozen=True)
class Line:
    """A note as it is listed; an event is something somebody did, with their reason."""

    note: Note

    @property
    def is_event(self) -> bool:
        return self.note.kind == NoteKind.TAKE_OVER

    @property
    def did(self) -> str:
        return "took this over" if self.is_event else ""


@dataclass(frozen=True)
class Notes:
    """The newest `SHOWN`, oldest first; `number` is how many there are in all."""

    lines: Sequence[Line]
    number: int

    @property
    def is_cut(self) -> bool:
        return self.number > len(self.lines)


def of(review: Review) -> Notes:
    """One query; two where there are more than are shown."""
    found = review.notes.select_related("author").order_by("-created_at", "-pk")
    newest = list(found[: SHOWN + 1])
    lines = [Line(note) for note in newest[:SHOWN]]
    is_cut = len(newest) > SHOWN
    return Notes(lines[::-1], review.notes.count() if is_cut else len(lines))


def add(review: Review, *, by: User, text: str) -> Note:
    """Keep a note, whatever became of the item; raises BadInput on `text`.

    That the person may see the item is the caller's to ask.
    """
    kept = clean_text(text).strip()
    if not kept:
        raise BadInput({"text": "Write something first."})
    if len(kept) > MAX_TEXT:
        over = len(kept) - MAX_TEXT
        raise BadInput(
            {"text": f"This is {over} characters too long; {MAX_TEXT:,} fit."}
        )
    return Note.objects.create(
        review=review, author=by, text=kept, created_at=clock.now()
    )
