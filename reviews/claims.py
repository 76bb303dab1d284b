"""Holding an item while one thinks: a lease, kept by whoever has the page open.

Looking holds nothing. Every change is a conditional UPDATE; who comes second is told
so, by name. None of them touches the item's version: what was shown goes on being so.
"""

from __future__ import annotations

import logging
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from agentops import clock, log
from agentops.conf import product
from reviews import stale
from reviews.models import Note, Review, Seen
from reviews.models.desk import NoteKind
from reviews.rights import may_decide
from runs.canonical import clean_text
from runs.errors import BadInput, NotPermitted

logger = logging.getLogger(__name__)

MOST_REASON = 300


def look(review: Review, *, by: User) -> None:
    """Remember that the person has opened the item, if it is the first time.

    `review` as `access.review_for` gives it: it knows whether it is.
    """
    if getattr(review, "is_seen", False):
        return
    first = Seen(review=review, person=by, first_at=clock.now())
    Seen.objects.bulk_create([first], ignore_conflicts=True)


def claim(review_id: UUID, *, by: User) -> Review:
    """Hold the item for `claim_lease_s`, or hold it longer.

    Raises StaleReview when it is closed or another person holds it, NotPermitted.
    """
    _refuse(review_id, by)
    now = clock.now()
    return _hold(review_id, by, stale.free_for(by, now), now)


def keep(review_id: UUID, *, by: User) -> Review:
    """Hold longer what one holds, also when the lease has just run out.

    It never takes the item back from nobody or from another person. Raises as
    `claim`; StaleReview also when the person has let go of it elsewhere.
    """
    _refuse(review_id, by)
    return _hold(review_id, by, Q(holder=by), clock.now())


def take_over(review_id: UUID, *, by: User, reason: str) -> Review:
    """Hold the item whoever holds it; the reason is kept as a note, with the change.

    What nobody holds any more is just claimed. Raises as `claim` (also when a third
    person was quicker), and BadInput for no reason or a too long one.
    """
    reason = clean_text(reason).strip()
    if not reason:
        raise BadInput({"reason": "Say why you take it over."})
    if len(reason) > MOST_REASON:
        raise BadInput({"reason": f"At most {MOST_REASON} characters, please."})
    review = _refuse(review_id, by)
    now = clock.now()
    if not stale.is_held_by_another(review, by, now):
        return claim(review_id, by=by)
    with transaction.atomic():
        taken = _hold(review_id, by, Q(holder=review.holder), now)
        Note.objects.create(
            review=taken,
            author=by,
            kind=NoteKind.TAKE_OVER.value,
            text=reason,
            created_at=now,
        )
    with log.bound(run=review.run_id):
        logger.info("%s took over from %s", by.get_username(), review.holder)
    return taken


def release(review_id: UUID, *, by: User) -> None:
    """Let go of the item; nothing happens if the person does not hold it."""
    held = Review.objects.filter(pk=review_id, holder=by)
    held.update(holder=None, holder_until=None)


def leave(review_id: UUID, *, by: User, until: datetime | None) -> None:
    """A page of the person is gone: its hold ends, unless another page renewed it.

    `until` is the end of the lease as that page knew it. The person stays named as
    the holder, though not for any longer, so that `keep` from another page of theirs
    still finds it theirs unless somebody has claimed it.
    """
    held = Review.objects.undecided().filter(
        pk=review_id, holder=by, holder_until=until
    )
    held.update(holder_until=clock.now())


def _refuse(review_id: UUID, by: User) -> Review:
    """The item; raises NotPermitted for who may not decide on it."""
    review = stale.fresh(review_id)
    if reason := may_decide(by, review):
        raise NotPermitted(reason)
    return review


def _hold(review_id: UUID, by: User, where: Q, now: datetime) -> Review:
    until = clock.later(product().claim_lease_s)
    free_rows = Review.objects.undecided().filter(where, pk=review_id)
    if not free_rows.update(holder=by, holder_until=until):
        review = stale.fresh(review_id)
        stale.refuse_if_held(review, by, now)
        stale.refuse_closed(review)
    return stale.fresh(review_id)
