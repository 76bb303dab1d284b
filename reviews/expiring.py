"""Items that nobody answered in time, and asking again.

Expiring is an outcome of its own: no decision, nobody's name, never an approval. The
run stays parked, without another item, until a person goes on, asks again or aborts.
"""

from __future__ import annotations

import logging
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock, log
from reviews import deadlines, drift, ranking, telling
from reviews.models import Note, Review
from reviews.models.desk import NoteKind
from reviews.models.review import ReviewQuerySet, ReviewStatus, Risk
from reviews.rights import may_decide
from reviews.stale import (
    StaleReview,
    expired_words,
    fresh,
    lock_run,
    refuse_closed,
)
from runs import timers
from runs.errors import NotPermitted

logger = logging.getLogger(__name__)

EXPIRE = "reviews.expiring.expire"
BATCH = 100


def register_timer() -> None:
    """Called once, when the apps are ready."""
    timers.register(EXPIRE, is_due)


def is_due() -> bool:
    return _due().exists()


def expire() -> dict[str, int]:
    """Close what nobody answered in time; each item in a transaction of its own."""
    found = _due().order_by("expires_at").values_list("pk", "run_id")[:BATCH]
    return {"expired": sum(_expire(*one) for one in found)}


def _due() -> ReviewQuerySet:
    ended = Review.objects.open().filter(expires_at__lte=clock.now())
    return ended.filter(expires_at__isnull=False)  # as the index says it


def _expire(review_id: UUID, run_id: UUID) -> bool:
    """Under the run's lock, so that a decision at the same moment waits its turn."""
    with transaction.atomic():
        lock_run(run_id)
        now = clock.now()
        is_ours = _due().filter(pk=review_id).close(ReviewStatus.EXPIRED, now)
        if is_ours:
            telling.expired(fresh(review_id), now)
    if is_ours:
        with log.bound(run=run_id):
            logger.warning("nobody answered in time: review %s expired", review_id)
    return is_ours == 1


def ask_again(review_id: UUID, *, by: User) -> Review:
    """Open an expired item anew, with new deadlines; a note says who did.

    One transaction. Raises Review.DoesNotExist, NotPermitted, and StaleReview if it
    has not expired or its run does not wait with it any more.
    """
    review = fresh(review_id)
    if reason := may_decide(by, review):
        raise NotPermitted(reason)
    with transaction.atomic():
        lock_run(review.run_id)
        review = fresh(review_id)
        _reopen(review, by)
        telling.again(fresh(review_id), clock.now())
    with log.bound(run=review.run_id):
        logger.info("%s asks again: review %s", by.get_username(), review_id)
    return fresh(review_id)


def _reopen(review: Review, by: User) -> None:
    if not review.waits_unanswered:
        refuse_closed(review)
    now = clock.now()
    limits = deadlines.of(review.tool, Risk(review.risk), now)
    opened = Review.objects.filter(
        pk=review.pk, version=review.version, status=ReviewStatus.EXPIRED.value
    ).reopen(
        opened_at=now,
        due_at=limits.due_at,
        expires_at=limits.expires_at,
        rank_at=ranking.of(review.run.park or {}).at(now, limits.due_at),
        detail=drift.logged(
            review,
            "It had expired and was asked again",
            by.get_username(),
            drift.moved("Due", review.due_at, limits.due_at),
        ),
    )
    if not opened:
        raise StaleReview("This has just changed. Look at it again.")
    text = f"Asked again. {expired_words(review)}"
    Note.objects.create(
        review=review,
        author=by,
        kind=NoteKind.ASKED_AGAIN.value,
        text=text,
        created_at=now,
    )
