"""Who may decide on what."""

from __future__ import annotations

from typing import Any

from agentops.conf import product
from reviews.models import Review
from runs.states import ParkReason


def may_decide(
    user: Any, review: Review, *, kind: str = "", is_seen: bool = False
) -> str:
    """Why the person may not decide on the review, or "" if they may.

    With `kind`: whether they may decide just so. A query asks whether they may see
    it, unless `is_seen`: it was just found by that.
    """
    if kind == "answer" and may_answer(user, review):
        return ""
    if not user.has_perm("reviews.decide_review"):
        return "You do not have the right to decide on parked runs."
    if not (is_seen or Review.objects.filter(pk=review.pk).visible_to(user).exists()):
        return f"You do not decide on runs of {review.run.agent.name}."
    return is_own(user, review)


def is_own(user: Any, review: Review) -> str:
    """Why nobody decides on what they asked for themselves; "" where one may."""
    if review.run.submitter_id == user.pk and not _self_decision_allowed(review):
        return "You asked for this run, so somebody else decides on it."
    return ""


def may_answer(user: Any, review: Review) -> bool:
    """Is it a question to the person's own agent that they may answer themselves?"""
    is_question = review.reason == ParkReason.QUESTION.value
    is_theirs = review.run.submitter_id == user.pk
    return is_question and is_theirs and review.run.agent.submitter_answers


def _self_decision_allowed(review: Review) -> bool:
    return product().allow_self_decision or review.run.agent.allow_self_decision
