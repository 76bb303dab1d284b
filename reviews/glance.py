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
from django.db.models import OuterRef, Subquery

from reviews import holding
from reviews.holding import Before
from reviews.models import Note, Review
from reviews.models.review import ReviewStatus

_NEWEST = Note.objects.filter(review=OuterRef("pk")).order_by("-created_at", "-pk")
FIELDS = ("version", "status", "holder_id", "holder_until")


def state_of(review: Review) -> str:
    """The same as long as a decision may be made on what was shown."""
    return f"{review.version} {review.status}"


@dataclass(frozen=True)
class Shown:
    """What a page says that it shows; None for what is no part of it.

    `newest` is the number of the last note, "0" for none.
    """

    state: str | None
    hold: Before | None
    newest: str | None

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Shown:
        held = query.get("shown")
        hold = None if held is None else Before(held, query.get("lost", ""))
        return cls(query.get("state"), hold, query.get("newest"))


@dataclass(frozen=True)
class Changes:
    """Which parts of a page are no longer as they are shown; `is_over` for good."""

    state: bool
    hold: bool
    notes: bool
    is_over: bool

    def __bool__(self) -> bool:
        return self.state or self.hold or self.notes


def look(user: User, review_id: UUID, shown: Shown, now: datetime) -> Changes:
    """One query; raises Review.DoesNotExist for what the person may not see."""
    newest = Subquery(_NEWEST.values("pk")[:1])
    seen = Review.objects.visible_to(user).annotate(newest=newest)
    review = seen.only(*FIELDS).get(pk=review_id)
    is_open = review.status == ReviewStatus.OPEN.value
    held = holding.shown_of(review, now)
    return Changes(
        state=shown.state not in (None, state_of(review)),
        hold=is_open and shown.hold is not None and shown.hold.shown != held,
        notes=shown.newest not in (None, str(review.newest or 0)),  # type: ignore[attr-defined] # annotated
        is_over=not is_open and shown.newest is None,
    )
