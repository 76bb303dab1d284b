"""Whether a row of the outbox is to be sent, now, later or never.

Asked right before it would be sent. So a row needs no care when its item closes,
opens again, or gets other times: what no longer holds is dropped, what does not hold
yet waits.
"""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from reviews import hours
from reviews.models import Notification, Profile, Review
from reviews.models.notification import NotificationStatus
from reviews.models.review import ReviewStatus, Risk
from reviews.notifiers import events


def sends_at(row: Notification, now: datetime) -> datetime | None:
    """When the row is to be sent, at `now` at the earliest; None for never."""
    if row.person is not None and not row.person.is_active:
        return None
    at = _wanted_at(row, now)
    if at is None or at > now:
        return at
    return hours.free_at(_profile(row), now, _wakes_at(row))


def _wanted_at(row: Notification, now: datetime) -> datetime | None:
    review = row.review
    if review is None:
        return now
    if row.event in _AFTER:
        return _AFTER[row.event](row, review, now)
    if review.status != ReviewStatus.OPEN.value:
        return _undoable_until(review, now)
    if row.event in events.REMINDERS and _is_superseded(row, review, now):
        return None
    if row.event in (*events.REMINDERS, events.OVERDUE):
        return max(now, events.moment(row.event, review))
    return now


def _told_of_expiry_at(
    row: Notification, review: Review, now: datetime
) -> datetime | None:
    """Not if somebody has decided, asked again or ended the run meanwhile."""
    return now if review.waits_unanswered else None


def _undoable_until(review: Review, now: datetime) -> datetime | None:
    """A decision that can still be undone may open its item again."""
    standing = review.decisions.filter(undone_at=None, effective_at__gt=now)
    return standing.values_list("effective_at", flat=True).first()


def _follows_at(row: Notification, review: Review, now: datetime) -> datetime | None:
    """Who was not told that it opened need not hear that it closed."""
    if review.status == ReviewStatus.OPEN.value:
        return None
    told = _same(row).filter(
        status=NotificationStatus.SENT.value, event__in=events.TO_DECIDE
    )
    if not told.exists():
        return None
    return _undoable_until(review, now) or now


_AFTER = {events.CLOSED: _follows_at, events.EXPIRED: _told_of_expiry_at}


def _is_superseded(row: Notification, review: Review, now: datetime) -> bool:
    """Another word about the item has come, or is about to come, in its place."""
    moment = events.moment(row.event, review)
    first = _same(row).filter(event=events.OPENED).first()
    if first is not None and first.status == NotificationStatus.PENDING.value:
        return True
    if first is not None and first.sent_at is not None and first.sent_at >= moment:
        return True
    late = events.moment(events.REMINDER_LATE, review)
    return row.event == events.REMINDER_HALF and now >= late


def _same(row: Notification) -> QuerySet[Notification]:
    """All that this item sends to this address."""
    return Notification.objects.filter(
        review=row.review_id, channel=row.channel, address=row.address
    )


def _profile(row: Notification) -> Profile | None:
    return Profile.objects.filter(person=row.person_id).first()


def _wakes_at(row: Notification) -> datetime | None:
    """High risk wakes people once half of its time has gone by without a decision."""
    review = row.review
    if review is None or review.risk != Risk.HIGH.value:
        return None
    if row.event not in events.TO_DECIDE:
        return None
    return events.moment(events.REMINDER_HALF, review)
