"""What an agent asks, as the one who gave it the task meets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from agentops import clock
from reviews import why
from reviews.decisions import registry
from reviews.decisions.base import DecisionForm
from reviews.models import Review
from reviews.models.review import ReviewStatus
from reviews.rights import may_answer

KIND = "answer"


@dataclass(frozen=True)
class Asked:
    """A question that the person may answer, and the form for it."""

    review: Review
    question: str
    form: DecisionForm
    at: datetime


def of(
    review: Review, user: Any, sent: Mapping[str, str] | None = None
) -> Asked | None:
    """None if it is not theirs to answer, or not open any more."""
    kind = registry.find(KIND)
    is_open = review.status == ReviewStatus.OPEN.value
    if not is_open or not may_answer(user, review) or not kind.offered(review):
        return None
    question, _ = why.question_of(review)
    form = kind.form(review, sent)
    return Asked(review, question or review.question, form, clock.now())
