"""What the queue runs for reviews: delivering the outbox, and the last net.

Neither ever touches a run: a message that cannot be delivered is a row that admins
see, nothing else.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from agentops import clock, log
from reviews import receivers, telling
from reviews.models import Notification, Review
from reviews.models.notification import NotificationStatus
from reviews.models.review import ReviewStatus
from reviews.notifiers import base
from runs import timers
from runs.canonical import clean_text, shorten
from runs.models import Run
from runs.states import RunState

logger = logging.getLogger(__name__)

DELIVER = telling.DELIVER
SWEEP = "reviews.tasks.sweep"

MAX_TRIES = 5
FIRST_WAIT_S = 15.0
WAIT_FACTOR = 4.0
CLAIM_S = 120.0
"""How long a row is ours: a worker killed while sending leaves it to the next."""
BATCH = 100
SLICE_S = 30.0
"""A delivery starts no more sends after this, well within the queue's timeout."""
SWEEP_AFTER_S = 5.0
SWEEP_EVERY_S = 15.0


def deliver() -> dict[str, int]:
    """Send what is due. Each row is claimed by an UPDATE first, so any number of
    deliveries may run at once; nothing is sent inside a transaction."""
    counts = {"sent": 0, "later": 0, "failed": 0, "dropped": 0}
    end = time.monotonic() + SLICE_S
    for notification in _due(clock.now())[:BATCH]:
        if time.monotonic() > end:
            break
        if _claim(notification, clock.now()):
            with log.bound(run=notification.run_id):
                counts[_deliver(notification)] += 1
    return counts


def sweep() -> dict[str, int]:
    """Open a review for every parked run that has none."""
    opened = 0
    for run_id in _unreviewed().values_list("pk", flat=True)[:BATCH]:
        opened += _open(run_id)
    return {"opened": opened}


def register_timers() -> None:
    """Called once, when the apps are ready."""
    timers.register(DELIVER, is_delivery_due)
    timers.register(SWEEP, _SweepClock().is_due)


def is_delivery_due() -> bool:
    return _due(clock.now()).exists()


class _SweepClock:
    """Asks the database only now and then: the signal opens reviews at once."""

    def __init__(self) -> None:
        self._next = 0.0

    def is_due(self) -> bool:
        if time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + SWEEP_EVERY_S
        return _unreviewed().exists()


def wait_after(tries: int) -> timedelta:
    """15 s, 1 min, 4 min, 16 min."""
    return timedelta(seconds=FIRST_WAIT_S * WAIT_FACTOR ** (tries - 1))


def _due(now: datetime) -> QuerySet[Notification]:
    return Notification.objects.filter(
        status=NotificationStatus.PENDING.value, next_at__lte=now
    ).order_by("next_at")


def _claim(notification: Notification, now: datetime) -> bool:
    """Count the try before it is made: a row that kills its worker ends, too."""
    ours = Notification.objects.filter(
        pk=notification.pk,
        status=NotificationStatus.PENDING.value,
        attempts=notification.attempts,
        next_at=notification.next_at,
    )
    until = now + timedelta(seconds=CLAIM_S)
    return ours.update(attempts=F("attempts") + 1, next_at=until) == 1


def _deliver(notification: Notification) -> str:
    """Make one try of a claimed row and write down what came of it."""
    notification = Notification.objects.select_related(
        "review__run__agent",
        "review__run__submitter",
        "review__run__version",
        "run__agent",
        "run__submitter",
    ).get(pk=notification.pk)
    if not _is_wanted(notification):
        return _settle(notification, NotificationStatus.DROPPED)
    if notification.attempts > MAX_TRIES:
        return _settle(notification, NotificationStatus.FAILED)
    try:
        base.find(notification.channel).send(notification)
    except base.Undeliverable as error:
        return _failed(notification, error.message, permanent=error.permanent)
    except Exception as error:
        logger.exception("the notifier %s failed", notification.channel)
        words = f"{type(error).__name__}: {error}"
        return _failed(notification, words, permanent=False)
    return _settle(notification, NotificationStatus.SENT)


def _is_wanted(notification: Notification) -> bool:
    """What is decided or cancelled already needs no word."""
    review = notification.review
    return review is None or review.status == ReviewStatus.OPEN.value


def _failed(notification: Notification, words: str, *, permanent: bool) -> str:
    error = shorten(clean_text(words))
    logger.warning("not delivered to %s: %s", notification.address, error)
    if permanent or notification.attempts >= MAX_TRIES:
        return _settle(notification, NotificationStatus.FAILED, error)
    next_at = clock.now() + wait_after(notification.attempts)
    _row(notification).update(error=error, next_at=next_at)
    return "later"


def _settle(
    notification: Notification, status: NotificationStatus, error: str | None = None
) -> str:
    sent_at = clock.now() if status is NotificationStatus.SENT else None
    words = notification.error if error is None else error
    if status is NotificationStatus.SENT:
        words = ""
    _row(notification).update(status=status.value, error=words, sent_at=sent_at)
    return status.value


def _row(notification: Notification) -> QuerySet[Notification]:
    """The row, if this try is still the newest."""
    return Notification.objects.filter(
        pk=notification.pk,
        status=NotificationStatus.PENDING.value,
        attempts=notification.attempts,
    )


def _unreviewed() -> QuerySet[Run]:
    open_one = Review.objects.open().filter(run=OuterRef("pk"))
    before = clock.later(-SWEEP_AFTER_S)
    return Run.objects.filter(
        ~Exists(open_one),
        parked_at__lt=before,
        state=RunState.AWAITING_HUMAN.value,
    ).order_by("parked_at")


def _open(run_id: UUID) -> int:
    """Under the run's lock, so that a decision or a second sweep waits its turn."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).filter(pk=run_id)
        run = locked.filter(state=RunState.AWAITING_HUMAN.value).first()
        if run is None or Review.objects.open().filter(run=run).exists():
            return 0
        receivers.open_review(run, run.park or {}, clock.now())
        return 1
