"""Delivering the outbox: claim, send, settle; many deliveries may run at once.

Each row is claimed by an UPDATE before it is sent and settled by another, fenced by
its count of tries. Nothing is sent inside a transaction, and nothing here ever
touches a run or a review.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from agentops import clock, log, redaction
from reviews import hours, routing, wanted
from reviews.models import Notification, Profile
from reviews.models.notification import NotificationStatus
from reviews.models.review import Risk
from reviews.notifiers import base, events, message
from runs.canonical import clean_text, shorten

logger = logging.getLogger(__name__)

MAX_TRIES = 5
FIRST_WAIT_S = 15.0
WAIT_FACTOR = 4.0
CLAIM_S = 120.0
"""How long a row is ours: a worker killed while sending leaves it to the next."""
BATCH = 100
SLICE_S = 30.0
"""A delivery starts no more sends after this, well within the queue's timeout."""
TOGETHER = 50
"""Items that one message tells of at most."""
GONE = "The person has taken this route away."


def deliver() -> dict[str, int]:
    """Send what is due; returns how many rows came to what."""
    counts = {"sent": 0, "later": 0, "failed": 0, "dropped": 0, "waiting": 0}
    end = time.monotonic() + SLICE_S
    done: set[int] = set()
    for row in due(clock.now())[:BATCH]:
        if time.monotonic() > end:
            break
        if row.pk in done:
            continue
        with log.bound(run=row.run_id):
            for pk, came_to in _one(row):
                done.add(pk)
                counts[came_to] += 1
    return counts


def due(now: datetime) -> QuerySet[Notification]:
    return Notification.objects.filter(
        status=NotificationStatus.PENDING.value, next_at__lte=now
    ).order_by("next_at", "pk")


def wait_after(tries: int) -> timedelta:
    """15 s, 1 min, 4 min, 16 min."""
    return timedelta(seconds=FIRST_WAIT_S * WAIT_FACTOR ** (tries - 1))


def claim(row: Notification, now: datetime) -> bool:
    """Count the try before it is made: a row that kills its worker ends, too."""
    until = now + timedelta(seconds=CLAIM_S)
    if not _seen(row).update(attempts=F("attempts") + 1, next_at=until):
        return False
    row.attempts, row.next_at = row.attempts + 1, until
    return True


Came = tuple[int, str]


def _one(row: Notification) -> list[Came]:
    """Deal with a row that is due, and with those that go along with it."""
    now = clock.now()
    full = _full().get(pk=row.pk)
    full.attempts, full.next_at = row.attempts, row.next_at
    at = wanted.sends_at(full, now)
    if at is None:
        dropped = _seen(full).update(status=NotificationStatus.DROPPED.value)
        return [(row.pk, "dropped")] if dropped else []
    if at > now:
        return [(row.pk, "waiting")] if _seen(full).update(next_at=at) else []
    group = [one for one in [full, *_companions(full, now)] if claim(one, now)]
    return _send(group) if group else []


def _companions(row: Notification, now: datetime) -> list[Notification]:
    """What tells the same address of the same: it goes out in the same message.

    New items that still wait for theirs go along; high risk goes alone.
    """
    if not _goes_together(row):
        return []
    ready = Q(next_at__lte=now)
    if row.event == events.OPENED:
        ready |= Q(attempts=0)
    alike = _full().filter(
        ready,
        person=row.person_id,
        channel=row.channel,
        address=row.address,
        event=row.event,
        status=NotificationStatus.PENDING.value,
    )
    found = alike.exclude(pk=row.pk).order_by("next_at", "pk")[: TOGETHER - 1]
    return [
        one for one in found if _goes_together(one) and wanted.sends_at(one, now) == now
    ]


def _goes_together(row: Notification) -> bool:
    if row.attempts >= MAX_TRIES or not base.groups(row.channel):
        return False
    is_urgent = row.review is not None and row.review.risk == Risk.HIGH.value
    return not (is_urgent and row.event in events.TO_DECIDE)


def _send(rows: Sequence[Notification]) -> list[Came]:
    """Make one try of claimed rows, as one message, and write down what came of it."""
    first = rows[0]
    if first.attempts > MAX_TRIES:
        return _settle(rows, NotificationStatus.FAILED)
    address = routing.target(first)
    if address is None:
        return _settle(rows, NotificationStatus.DROPPED, GONE)
    profile = Profile.objects.filter(person=first.person_id).first()
    try:
        with timezone.override(hours.zone(profile)):
            notifier = base.find(first.channel)
            if notifier.is_secret:  # what goes wrong from here on may quote it
                redaction.learn(address)
            notifier.send(address, message.of(rows))
    except LookupError as error:
        return _failed(rows, str(error), permanent=True)
    except base.Undeliverable as error:
        return _failed(rows, error.message, permanent=error.permanent)
    except Exception as error:
        logger.exception("the notifier %s failed", first.channel)
        return _failed(rows, type(error).__name__, permanent=False)
    return _settle(rows, NotificationStatus.SENT)


def _failed(rows: Sequence[Notification], words: str, *, permanent: bool) -> list[Came]:
    first, error = rows[0], shorten(redaction.hide(clean_text(words)))
    logger.warning("not delivered to %s: %s", routing.shown(first), error)
    if permanent or first.attempts >= MAX_TRIES:
        return _settle(rows, NotificationStatus.FAILED, error)
    next_at = clock.now() + wait_after(first.attempts)
    for row in rows:
        _ours(row).update(error=error, next_at=next_at)
    return _each(rows, "later")


def _settle(
    rows: Sequence[Notification], status: NotificationStatus, error: str | None = None
) -> list[Came]:
    is_sent = status is NotificationStatus.SENT
    for row in rows:
        words = row.error if error is None else error
        _ours(row).update(
            status=status.value,
            error="" if is_sent else words,
            sent_at=clock.now() if is_sent else None,
        )
    return _each(rows, status.value)


def _each(rows: Iterable[Notification], came_to: str) -> list[Came]:
    return [(row.pk, came_to) for row in rows]


def _seen(row: Notification) -> QuerySet[Notification]:
    """The row, if nobody has touched it since it was read."""
    return _ours(row).filter(next_at=row.next_at)


def _ours(row: Notification) -> QuerySet[Notification]:
    """The row, if this try is still the newest."""
    return Notification.objects.filter(
        pk=row.pk,
        status=NotificationStatus.PENDING.value,
        attempts=row.attempts,
    )


def _full() -> QuerySet[Notification]:
    """With all that a message tells of."""
    return Notification.objects.select_related(
        "person",
        "review__run__agent",
        "review__run__submitter",
        "review__run__version",
        "run__agent",
        "run__submitter",
    )
