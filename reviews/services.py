"""Deciding: the one way by which a person's decision closes an item.

Every change is a conditional UPDATE; who comes second is told so, by name.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F

from agentops import clock, log, redaction
from reviews import drafts, drift, seal, searching, undo
from reviews.decisions import registry
from reviews.decisions.base import DecisionKind
from reviews.models import Decision, Review
from reviews.models.decision import after_windows
from reviews.models.review import ReviewStatus
from reviews.rights import may_decide
from reviews.stale import (
    StaleReview,
    expired_words,
    free_for,
    fresh,
    has_expired,
    lock_run,
    refuse_closed,
    refuse_if_held,
    standing,
)
from runs import deciding, points
from runs.canonical import Json, digest
from runs.errors import BadInput, NotPermitted, Stale
from runs.values import Verdict

logger = logging.getLogger(__name__)

MAX_SECONDS_TAKEN = 86_400
BATCH = "batch"


@dataclass(frozen=True)
class Together:
    """A decision made with others: the name of their batch, kept in each payload.

    The run goes on `delay_s` later than it would alone.
    """

    batch: str
    delay_s: float = 0.0


@points.write("decide")
def decide(
    review_id: UUID,
    *,
    by: User,
    kind: str,
    item_version: int,
    digest: str = "",
    seen_at: datetime | None = None,
    together: Together | None = None,
    payload: Mapping[str, Any] | None = None,
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
    if reason := may_decide(by, review, kind=chosen.kind):
        raise NotPermitted(reason)
    sent = redaction.hide_in(dict(payload or {}))
    wanted = _Wanted(chosen, by, item_version, digest, seen_at, together, sent)
    with log.bound(run=review.run_id):
        try:
            with transaction.atomic():
                lock_run(review.run_id)
                return _decide(fresh(review_id), wanted)
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
            return _again(fresh(review_id), wanted)


@dataclass(frozen=True)
class _Wanted:
    """A decision as it came in."""

    kind: DecisionKind
    by: User
    item_version: int
    digest: str
    seen_at: datetime | None
    together: Together | None
    payload: Mapping[str, Any]

    @property
    def batch(self) -> dict[str, Json]:
        return {BATCH: self.together.batch} if self.together else {}

    @property
    def delay(self) -> timedelta:
        return timedelta(seconds=self.together.delay_s if self.together else 0)


@points.write("show anew")
def _show_anew(review_id: UUID, parts: Sequence[str]) -> None:
    """Seal the item to what holds now, so that it can be decided on after a look.

    Who held it goes on holding it; earlier versions no longer fit.
    """
    with transaction.atomic():
        review = Review.objects.get(pk=review_id)
        lock_run(review.run_id)
        review.refresh_from_db()
        sealed = deciding.reseal(review.run_id, sequence=review.sequence)
        terms = deciding.terms(review.run_id)
        found = drift.differences(review.detail.get("terms") or {}, terms)
        detail = drift.logged(review, "What it was sealed to changed", "", found)
        detail |= {"changed": list(parts), "terms": terms, "differences": found}
        Review.objects.open().filter(pk=review_id, version=review.version).update(
            seal=sealed,
            detail=detail,
            version=F("version") + 1,
        )
        points.reach("inside show anew")


def _decide(review: Review, wanted: _Wanted) -> Decision:
    now = clock.now()
    kind, by = wanted.kind, wanted.by
    if not _takes(review, kind, now):
        return _again(review, wanted)
    refuse_if_held(review, by, now)
    if problem := seal.broken(review, kind, wanted.item_version, wanted.digest):
        raise StaleReview(problem)
    if not registry.is_offered(kind, review):
        raise BadInput({"kind": "This cannot be decided here."})
    cleaned = kind.clean(review, wanted.payload)
    verdict = kind.to_verdict(review, cleaned)
    window = timedelta(seconds=undo.window_s(review, kind, verdict))
    if not _close(review, by, now):
        refuse_if_held(fresh(review.pk), by, now)
        return _again(fresh(review.pk), wanted)
    decision = Decision.objects.create(
        review=review,
        kind=kind.kind,
        actor=by,
        payload=cleaned | wanted.batch,
        note=kind.note(cleaned),
        item_version=wanted.item_version,
        digest=_digest(review, verdict),
        seconds_taken=_seconds(wanted.seen_at, now),
        decided_at=now,
        effective_at=_effective_at(review, now, window + wanted.delay),
    )
    searching.remember(review.pk, decision.note)
    drafts.forget(review, by)
    kind.apply(decision, verdict)
    logger.info("%s decided %s", by.get_username(), kind.kind)
    points.reach("inside decide")
    return decision


def _effective_at(review: Review, now: datetime, wait: timedelta) -> datetime:
    """With no wait at once: then it cannot be taken back, whatever the run waits for."""
    return after_windows(review.run_id, now + wait) if wait else now


def _takes(review: Review, kind: DecisionKind, now: datetime) -> bool:
    """Can such a decision close the item? Its time may be over, its timer late."""
    if review.status == ReviewStatus.OPEN.value:
        if has_expired(review, now):
            raise StaleReview(f"{expired_words(review)} Nothing was carried out.")
        return True
    return kind.after_expiry and review.status == ReviewStatus.EXPIRED.value


def _close(review: Review, by: User, now: datetime) -> bool:
    """Take the item: only one transaction ever gets True for it."""
    as_it_was = Review.objects.filter(
        free_for(by, now),
        pk=review.pk,
        version=review.version,
        status=review.status,
    )
    return as_it_was.close(ReviewStatus.DECIDED, now) == 1


def _again(review: Review, wanted: _Wanted) -> Decision:
    """The decision that stands if this is it once more; else `StaleReview`."""
    decision = standing(review)
    if decision is None or not _is_same(decision, review, wanted):
        refuse_closed(review)
    return decision


def _is_same(decision: Decision, review: Review, wanted: _Wanted) -> bool:
    if decision.actor_id != wanted.by.pk or decision.kind != wanted.kind.kind:
        return False
    said = {name: value for name, value in decision.payload.items() if name != BATCH}
    return wanted.kind.is_again(review, wanted.payload, said)


def _digest(review: Review, verdict: Verdict | None) -> str:
    """Of the call as decided: edited arguments have a digest of their own."""
    if verdict is None or verdict.arguments is None:
        return review.digest
    call: Json = [review.proposal["tool"], dict(verdict.arguments)]
    return digest(call)


def _seconds(seen_at: datetime | None, now: datetime) -> int | None:
    if seen_at is None:
        return None
    return max(0, min(int((now - seen_at).total_seconds()), MAX_SECONDS_TAKEN))
