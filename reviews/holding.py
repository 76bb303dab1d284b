"""Who holds an item, as a page says it: you, another person, or nobody.

A page shows it anew every few seconds. What the page showed before comes with the
question, so that who has just lost the item is told, by whom and why.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.contrib.auth.models import User

from agentops.conf import product
from agentops.http import moment
from reviews import stale
from reviews.models import Note, Review
from reviews.models.desk import NoteKind

RAN_OUT = "ran-out"


class Hold(StrEnum):
    YOURS = "yours"
    OTHERS = "others"
    NOBODYS = "nobodys"


@dataclass(frozen=True)
class Before:
    """What the page showed: `shown` of the `Holding`, and `lost` if it said so."""

    shown: str = ""
    lost: str = ""


@dataclass(frozen=True)
class Holding:
    """`lost` is "" or how this person lost it: the note's number, or that time ran out.

    `taken` is the note with the reason, where it was taken.
    """

    review: Review
    hold: Hold
    lost: str = ""
    taken: Note | None = None

    @property
    def shown(self) -> str:
        """The same as long as a page need not change: holder and end of the lease."""
        return "" if self.hold == Hold.NOBODYS else _stamp(self.review)

    @property
    def until(self) -> str:
        """The end of the lease, exactly."""
        until = self.review.holder_until
        return until.isoformat() if until else ""

    @property
    def beat_s(self) -> float:
        """How often a page that is looked at renews the lease."""
        return product().claim_lease_s / 3


def of(review: Review, user: User, now: datetime, before: Before) -> Holding:
    """At most one query, and none unless somebody else holds what was this person's."""
    hold = _hold(review, user, now)
    if hold != Hold.OTHERS:
        return Holding(review, hold)
    if before.lost:
        return Holding(review, hold, before.lost, _note(review, before.lost))
    owner, _, until = before.shown.partition("@")
    if owner != str(user.pk):
        return Holding(review, hold)
    taken = _taking(review, moment(until))
    return Holding(review, hold, str(taken.pk) if taken else RAN_OUT, taken)


def shown_of(review: Review, now: datetime) -> str:
    """`shown` of its `Holding`, whoever looks; no query."""
    return _stamp(review) if review.is_held(now) else ""


def _hold(review: Review, user: User, now: datetime) -> Hold:
    if stale.is_held_by_another(review, user, now):
        return Hold.OTHERS
    return Hold.YOURS if review.is_held(now) else Hold.NOBODYS


def _stamp(review: Review) -> str:
    until = review.holder_until
    return f"{review.holder_id}@{until.isoformat() if until else ''}"


def _taking(review: Review, until: datetime | None) -> Note | None:
    """The note by which the present holder ended a lease that went until then."""
    if until is None:
        return None
    lease = timedelta(seconds=product().claim_lease_s)
    notes = review.notes.filter(
        kind=NoteKind.TAKE_OVER.value,
        author=review.holder_id,
        created_at__range=(until - lease, until),
    )
    return notes.order_by("-created_at").select_related("author").first()


def _note(review: Review, number: str) -> Note | None:
    if not number.isdecimal() or len(number) > 18:
        return None
    notes = review.notes.filter(kind=NoteKind.TAKE_OVER.value, pk=int(number))
    return notes.select_related("author").first()
