"""Holding an item while one thinks: a lease, kept by whoever has the page open.

Every change is a conditional UPDATE; who comes second is told so, by name.
"""

from __future__ import annotations

import logging
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q

from agentops import clock, log
from agentops.conf import product
from reviews import stale
from reviews.models import Review
from reviews.rights import may_decide
from runs.canonical import clean_text
from runs.errors import BadInput, NotPermitted

logger = logging.getLogger(__name__)


def claim(review_id: UUID, *, by: User) -> Review:
    """Hold the item for `claim_lease_s`, or hold it longer.

    Raises StaleReview when it is closed or another person holds it, NotPermitted.
    """
    now = clock.now()
    free = Q(holder=None) | Q(holder=by) | Q(holder_until__lte=now)
    return _hold(review_id, by, free, now)


def take_over(review_id: UUID, *, by: User, reason: str) -> Review:
    """Hold the item whoever holds it now. Raises as `claim`, and BadInput."""
    if not reason.strip():
        raise BadInput({"reason": "Say why you take it over."})
    review = _hold(review_id, by, Q(), clock.now())
    with log.bound(run=review.run_id):
        logger.info("%s took over: %s", by.get_username(), clean_text(reason))
    return review


def release(review_id: UUID, *, by: User) -> None:
    """Let go of the item; nothing happens if the person does not hold it."""
    held = Review.objects.filter(pk=review_id, holder=by)
    held.update(holder=None, holder_until=None)


def _hold(review_id: UUID, by: User, free: Q, now: datetime) -> Review:
    review = stale.fresh(review_id)
    if reason := may_decide(by, review):
        raise NotPermitted(reason)
    until = clock.later(product().claim_lease_s)
    free_rows = Review.objects.undecided().filter(free, pk=review_id)
    if not free_rows.update(holder=by, holder_until=until):
        review = stale.fresh(review_id)
        stale.refuse_if_held(review, by, now)
        stale.refuse_closed(review)
    return stale.fresh(review_id)
