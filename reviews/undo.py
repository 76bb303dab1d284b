"""Taking a decision back: the window in which that can be done, and doing it.

An approval takes effect only when its window is over (`Decision.effective_at`).
Until then who decided may undo it: the same item is open again, and both rows stay.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from agentops import clock, log
from agentops.conf import product
from reviews import drafts, drift
from reviews.decisions import registry
from reviews.decisions.base import DecisionKind
from reviews.models import Decision, Review
from reviews.models.review import ReviewStatus
from reviews.rights import may_decide
from reviews.stale import StaleReview, fresh, lock_run, standing
from runs import points, undoing
from runs.errors import BadInput, NotPermitted, Stale
from runs.models import Tool
from runs.tools import registry as tools
from runs.tools.base import Effect
from runs.values import Verdict

logger = logging.getLogger(__name__)


def window_s(review: Review, kind: DecisionKind, verdict: Verdict | None) -> float:
    """For how many seconds such a decision can be taken back; 0 for not at all.

    Only what lets a call be made waits; an accepted answer never goes back. The
    tool's own number holds, else the product's, by what the call does as decided.
    """
    if verdict is None or not kind.runs_call or not review.proposal:
        return 0.0
    own = Tool.objects.filter(pk=review.tool).values_list("undo_s", flat=True).first()
    if own is not None:
        return own
    numbers = product()
    is_final = _effect(review, verdict) == Effect.IRREVERSIBLE.value
    return numbers.undo_irreversible_s if is_final else numbers.undo_s


def _effect(review: Review, verdict: Verdict) -> str:
    """What the call does as decided: changed arguments may make it another one."""
    proposed = str(review.proposal.get("effect", ""))
    if verdict.arguments is None:
        return proposed
    try:
        return tools.get(review.tool).effect_for(dict(verdict.arguments)).value
    except KeyError:
        return proposed


def left_s(decision: Decision | None, by: User, now: datetime) -> float:
    """For how long this person can still take it back; 0 for not at all.

    Whether the run has been aborted meanwhile is not asked here.
    """
    if decision is None or decision.actor_id != by.pk:
        return 0.0
    return round(max((decision.effective_at - now).total_seconds(), 0.0), 1)


@points.write("undo")
def undo(review_id: UUID, *, by: User, decision_id: int | None = None) -> Review:
    """Take the decision back, in one transaction; the item is open and held by `by`.

    `decision_id` is the one that was shown, the standing one if None. Raises
    Review.DoesNotExist, NotPermitted (only who decided may) and StaleReview: it has
    taken effect, is taken back already, or the run was aborted meanwhile.
    """
    review = fresh(review_id)
    with log.bound(run=review.run_id):
        try:
            with transaction.atomic():
                lock_run(review.run_id)
                decision = _decision(fresh(review_id), by, decision_id)
                _take_back(decision, by)
                registry.past(decision.kind).take_back(decision)
                _give_back(decision, by)
                points.reach("inside undo")
        except StaleReview:
            raise
        except Stale as error:
            raise StaleReview(error.message, decision=standing(review)) from error
        logger.info("%s took back: %s", by.get_username(), decision.kind)
    return fresh(review_id)


def _decision(review: Review, by: User, decision_id: int | None) -> Decision:
    decision = standing(review)
    if decision is None or decision_id not in {None, decision.pk}:
        raise StaleReview("This has been taken back already.", decision=decision)
    if decision.actor_id != by.pk:
        raise NotPermitted("Only the person who decided can take it back.")
    if reason := may_decide(by, review):
        raise NotPermitted(reason)
    if review.run.finished_at is not None:
        words = f"Too late: the run is {review.run.state}."
        raise StaleReview(words, decision=decision)
    if decision.effective_at <= clock.now():
        raise StaleReview(_too_late(decision), decision=decision)
    return decision


def _too_late(decision: Decision) -> str:
    if decision.effective_at <= decision.decided_at:
        said = registry.done(decision.kind).lower()
        return f"This took effect at once and cannot be taken back: {said}."
    return undoing.TOO_LATE


def _take_back(decision: Decision, by: User) -> None:
    """The review before the run: with the run, the park would open another one."""
    now, review = clock.now(), decision.review
    ours = Decision.objects.filter(pk=decision.pk, undone_at=None, effective_at__gt=now)
    if not ours.update(undone_at=now):
        raise StaleReview(undoing.TOO_LATE, decision=decision)
    reopened = Review.objects.filter(
        pk=review.pk, version=review.version, status=ReviewStatus.DECIDED.value
    ).reopen(
        detail=drift.logged(review, "A decision was taken back", by.get_username(), []),
        holder=by,
        holder_until=clock.later(product().claim_lease_s),
    )
    if not reopened:
        raise StaleReview("This has just changed. Look at it again.")
    sequence = undoing.take_back(
        review.run_id,
        by=by,
        sequence=review.sequence,
        effective_at=decision.effective_at,
    )
    Review.objects.filter(pk=review.pk).update(sequence=sequence)


def _give_back(decision: Decision, by: User) -> None:
    """What was sent is there again, to be put right, as a draft of its form.

    What is too long for a draft stays in the decision alone.
    """
    fields = registry.past(decision.kind).typed(decision)
    fields |= {"item_version": str(fresh(decision.review_id).version)}
    with suppress(BadInput):
        drafts.save(decision.review_id, person=by, form=decision.kind, fields=fields)
