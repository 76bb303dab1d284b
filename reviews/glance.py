"""An item that stays open in a browser: is it still as its page shows it?

A page sends back what it showed, and only that is compared: one light query for all of
it, since every open page asks every few seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count

from reviews import holding
from reviews.holding import Before
from reviews.models import Review
from runs import glance as run_glance

FIELDS = ("version", "status", "holder_id", "holder_until")
OF_RUN = tuple(f"run__{name}" for name in run_glance.FIELDS)


def state_of(review: Review) -> str:
    """The same as long as a decision may be made on what was shown."""
    return f"{review.version} {review.status}"


@dataclass(frozen=True)
class Shown:
    """What a page says that it shows; None for what is no part of it.

    `notes` is how many there are: they are never taken away.
    """

    state: str | None
    hold: Before | None
    notes: str | None

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Shown:
        held = query.get("shown")
        hold = None if held is None else Before(held, query.get("lost", ""))
        return cls(query.get("state"), hold, query.get("notes"))


@dataclass(frozen=True)
class Changes:
    """Which parts of a page are no longer as they are shown."""

    state: bool
    hold: bool
    notes: bool

    def __bool__(self) -> bool:
        return self.state or self.hold or self.notes


def look(user: User, review_id: UUID, shown: Shown, now: datetime) -> Changes:
    """One query; raises Review.DoesNotExist for what the person may not see."""
    seen = Review.objects.visible_to(user).annotate(note_count=Count("notes"))
    review = seen.only(*FIELDS).get(pk=review_id)
    has_moved = shown.state not in (None, state_of(review))
    held = holding.shown_of(review, now)
    return Changes(
        state=has_moved,
        # What is closed no longer offers to be held, and what is open again does.
        hold=shown.hold is not None and (has_moved or shown.hold.shown != held),
        notes=shown.notes not in (None, str(review.note_count)),  # type: ignore[attr-defined] # annotated
    )


def is_run_as_seen(user: User, review_id: UUID, seen: str) -> bool:
    """Is `seen` the stamp of its run now (see `runs.glance`)? One query.

    False for what the person may not see.
    """
    reviews = Review.objects.visible_to(user).select_related("run").only(*OF_RUN)
    review = reviews.filter(pk=review_id).first()
    return review is not None and seen == run_glance.stamp(review.run)
