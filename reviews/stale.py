"""An item as it is now, and the refusal of what does not fit it any more."""

from __future__ import annotations

from datetime import datetime
from typing import NoReturn, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q

from agentops import clock
from reviews.decisions import registry
from reviews.models import Decision, Review
from reviews.models.review import ReviewStatus
from runs import words
from runs.errors import Stale
from runs.models import Run


class StaleReview(Stale):
    """This is no longer as it was shown.

    `decision` is the one that stands, where there is one; `holder` the person who
    is working on the item.
    """

    def __init__(
        self,
        message: str,
        *,
        decision: Decision | None = None,
        holder: User | None = None,
    ) -> None:
        super().__init__(message)
        self.decision = decision
        self.holder = holder


def fresh(review_id: UUID) -> Review:
    """The row as it is now; raises Review.DoesNotExist."""
    found = Review.objects.select_related("run__agent", "run__submitter", "holder")
    return found.get(pk=review_id)


def lock_run(run_id: UUID) -> None:
    """The run before its review, as in every other transaction: no deadlock."""
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id)
    run.values_list("pk").first()


def standing(review: Review) -> Decision | None:
    """The decision that stands, if there is one."""
    found = review.decisions.filter(undone_at=None)
    return found.select_related("actor").first()


def has_expired(review: Review, now: datetime) -> bool:
    """Is its time over? It may be open still, until the timer has closed it."""
    return review.expires_at is not None and review.expires_at <= now


def expired_words(review: Review) -> str:
    """When it expired, on the reader's clock."""
    at = cast("datetime", review.expires_at or review.closed_at)
    return f"This expired: nobody answered by {words.at(at, clock.now())}."


def refuse_closed(review: Review) -> NoReturn:
    """Say by whom it was decided, or what else became of it."""
    decision = standing(review)
    if decision is not None:
        who = decision.actor.get_username()
        said = registry.done(decision.kind).lower()
        raise StaleReview(f"{who} has decided already: {said}.", decision=decision)
    if review.status == ReviewStatus.OPEN.value:
        raise StaleReview("This has just changed. Look at it again.")
    if review.status == ReviewStatus.EXPIRED.value:
        raise StaleReview(f"{expired_words(review)} Nothing was carried out.")
    raise StaleReview(f"This is {review.status} and no longer waits for a decision.")


def free_for(by: User, now: datetime) -> Q:
    """The rows that no other person holds."""
    return Q(holder=None) | Q(holder=by) | Q(holder_until__lte=now)


def is_held_by_another(review: Review, by: User, now: datetime) -> bool:
    """The same of a row that was read."""
    return review.is_held(now) and review.holder_id != by.pk


def refuse_if_held(review: Review, by: User, now: datetime) -> None:
    """Only who holds an item decides on it, for as long as it is held."""
    if not is_held_by_another(review, by, now):
        return
    holder, until = cast("User", review.holder), cast("datetime", review.holder_until)
    who, at = holder.get_username(), words.at(until, now)
    raise StaleReview(f"{who} is working on this until {at}.", holder=holder)
