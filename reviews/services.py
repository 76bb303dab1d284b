"""Deciding, and holding an item while one thinks: the only writers of reviews.

Every change is a conditional UPDATE; who comes second is told so, by name.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from agentops import clock, log
from agentops.conf import product
from reviews import seal
from reviews.decisions import registry
from reviews.decisions.base import DecisionKind
from reviews.models import Decision, Review
from reviews.models.review import ReviewStatus
from runs import deciding, points
from runs.canonical import Json, clean_text, digest
from runs.errors import BadInput, NotPermitted, Stale
from runs.models import Run
from runs.values import Verdict

logger = logging.getLogger(__name__)

MAX_SECONDS_TAKEN = 86_400


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


def may_decide(user: Any, review: Review) -> str:
    """Why the person may not decide on the review, or "" if they may."""
    if not user.has_perm("reviews.decide_review"):
        return "You do not have the right to decide on parked runs."
    if not Review.objects.filter(pk=review.pk).visible_to(user).exists():
        return f"You do not decide on runs of {review.run.agent.name}."
    if review.run.submitter_id == user.pk and not _self_decision_allowed(review):
        return "You asked for this run, so somebody else decides on it."
    return ""


@points.write("decide")
def decide(
    review_id: UUID,
    *,
    by: User,
    kind: str,
    item_version: int,
    digest: str = "",
    seen_at: datetime | None = None,
    **payload: Any,
) -> Decision:
    """Decide, and put the run back, in one transaction.

    `payload` is what the kind's form takes, as a browser sends it. `seen_at` is
    when the person first opened the item. The same decision by the same person
    again returns the one there is. Raises Review.DoesNotExist, NotPermitted,
    StaleReview (also when another person holds the item) and BadInput (the item
    stays open).
    """
    chosen = registry.find(kind)
    review = Review.objects.select_related("run__agent").get(pk=review_id)
    if reason := may_decide(by, review):
        raise NotPermitted(reason)
    wanted = _Wanted(chosen, by, item_version, digest, seen_at, payload)
    with log.bound(run=review.run_id):
        try:
            with transaction.atomic():
                _lock_run(review.run_id)
                return _decide(_fresh(review_id), wanted)
        except StaleReview:
            raise
        except deciding.Changed as error:
            with suppress(Stale):  # it may have been decided or aborted since
                _show_anew(review_id, error.parts)
            raise StaleReview(f"{error.message} Look at it again.") from error
        except Stale as error:
            raise StaleReview(error.message) from error
        except IntegrityError:  # one standing decision per review
            if standing(review) is None:
                raise
            return _again(_fresh(review_id), wanted)


@dataclass(frozen=True)
class _Wanted:
    """A decision as it came in."""

    kind: DecisionKind
    by: User
    item_version: int
    digest: str
    seen_at: datetime | None
    payload: Mapping[str, Any]


def _lock_run(run_id: UUID) -> None:
    """The run before its review, as in every other transaction: no deadlock."""
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id)
    run.values_list("pk").first()


@points.write("show anew")
def _show_anew(review_id: UUID, parts: Sequence[str]) -> None:
    """Seal the item to what holds now, so that it can be decided on after a look.

    Who held it goes on holding it; earlier versions no longer fit.
    """
    with transaction.atomic():
        review = Review.objects.get(pk=review_id)
        _lock_run(review.run_id)
        review.refresh_from_db()
        sealed = deciding.reseal(review.run_id, sequence=review.sequence)
        Review.objects.open().filter(pk=review_id, version=review.version).update(
            seal=sealed,
            detail=review.detail | {"changed": list(parts)},
            version=F("version") + 1,
        )
        points.reach("inside show anew")


def _decide(review: Review, wanted: _Wanted) -> Decision:
    if review.status != ReviewStatus.OPEN.value:
        return _again(review, wanted)
    now = clock.now()
    kind, by = wanted.kind, wanted.by
    _refuse_if_held(review, by, now)
    if problem := seal.broken(review, kind, wanted.item_version, wanted.digest):
        raise StaleReview(problem)
    if not kind.offered(review):
        raise BadInput({"kind": "This cannot be decided here."})
    cleaned = kind.clean(review, wanted.payload)
    verdict = kind.to_verdict(review, cleaned)
    if not _close(review, now):
        return _again(_fresh(review.pk), wanted)
    decision = Decision.objects.create(
        review=review,
        kind=kind.kind,
        actor=by,
        payload=cleaned,
        note=kind.note(cleaned),
        item_version=wanted.item_version,
        digest=_digest(review, verdict),
        seconds_taken=_seconds(wanted.seen_at, now),
        decided_at=now,
        effective_at=now,
    )
    deciding.resume(review.run_id, verdict, by=by, sequence=review.sequence)
    logger.info("%s decided %s", by.get_username(), kind.kind)
    points.reach("inside decide")
    return decision


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


def standing(review: Review) -> Decision | None:
    """The decision that stands, if there is one."""
    found = review.decisions.filter(undone_at=None)
    return found.select_related("actor").first()


def _hold(review_id: UUID, by: User, free: Q, now: datetime) -> Review:
    review = _fresh(review_id)
    if reason := may_decide(by, review):
        raise NotPermitted(reason)
    until = clock.later(product().claim_lease_s)
    free_rows = Review.objects.open().filter(free, pk=review_id)
    if not free_rows.update(holder=by, holder_until=until):
        review = _fresh(review_id)
        _refuse_if_held(review, by, now)
        _refuse_closed(review)
    return _fresh(review_id)


def _fresh(review_id: UUID) -> Review:
    found = Review.objects.select_related("run__agent", "run__submitter", "holder")
    return found.get(pk=review_id)


def _close(review: Review, now: datetime) -> bool:
    """Take the item: only one transaction ever gets True for it."""
    open_rows = Review.objects.open().filter(pk=review.pk, version=review.version)
    closed = open_rows.update(
        status=ReviewStatus.DECIDED.value,
        closed_at=now,
        version=F("version") + 1,
        holder=None,
        holder_until=None,
    )
    return closed == 1


def _again(review: Review, wanted: _Wanted) -> Decision:
    """The decision that stands if this is it once more; else `StaleReview`."""
    decision = standing(review)
    if decision is None or not _is_same(decision, review, wanted):
        _refuse_closed(review)
    return decision


def _is_same(decision: Decision, review: Review, wanted: _Wanted) -> bool:
    if decision.actor_id != wanted.by.pk or decision.kind != wanted.kind.kind:
        return False
    return wanted.kind.is_again(review, wanted.payload, decision.payload)


def _refuse_closed(review: Review) -> NoReturn:
    decision = standing(review)
    if decision is not None:
        who = decision.actor.get_username()
        words = registry.find(decision.kind).words.lower()
        raise StaleReview(f"{who} has decided already: {words}.", decision=decision)
    if review.status == ReviewStatus.OPEN.value:
        raise StaleReview("This has just changed. Look at it again.")
    raise StaleReview(f"This is {review.status} and no longer waits for a decision.")


def _refuse_if_held(review: Review, by: User, now: datetime) -> None:
    holder, until = review.holder, review.holder_until
    if holder is None or holder.pk == by.pk or until is None or until <= now:
        return
    words = f"{holder.get_username()} is working on this until {until:%H:%M} UTC."
    raise StaleReview(words, holder=holder)


def _self_decision_allowed(review: Review) -> bool:
    return product().allow_self_decision or review.run.agent.allow_self_decision


def _digest(review: Review, verdict: Verdict) -> str:
    """Of the call as decided: edited arguments have a digest of their own."""
    if verdict.arguments is None:
        return review.digest
    call: Json = [review.proposal["tool"], dict(verdict.arguments)]
    return digest(call)


def _seconds(seen_at: datetime | None, now: datetime) -> int | None:
    if seen_at is None:
        return None
    return max(0, min(int((now - seen_at).total_seconds()), MAX_SECONDS_TAKEN))
