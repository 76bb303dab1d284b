"""Like cases: what was decided when the same tool asked for the same reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from reviews.decisions import registry
from reviews.inbox import OF_PERSON
from reviews.models import Decision, Review
from reviews.models.review import ReviewKind, ReviewStatus
from reviews.passing import share
from runs import words
from runs.models import Agent

CASES = 5
SHOWN = (
    *("kind", "note", "decided_at", "review__detail"),
    *(f"actor__{name}" for name in OF_PERSON),
)
IN_FAVOUR = frozenset({"approve", "edit"})


@dataclass(frozen=True)
class LikeCase:
    """One earlier decision; `confidence` is what was stated then, "" if nothing."""

    decision: Decision
    words: str
    tone: str
    icon: str
    confidence: str


def cases(review: Review, user: User) -> list[LikeCase]:
    """The last five decided reviews with the same tool and reason the person may see.

    One query, served by the index `review_like_cases`.
    """
    decisions = Decision.objects.filter(
        undone_at=None,
        review__tool=review.tool,
        review__reason=review.reason,
        review__kind=review.kind,
        review__status=ReviewStatus.DECIDED.value,
    ).exclude(review=review)
    if not user.has_perm("runs.view_all_runs"):
        agents = Agent.objects.ids_decided_by(user)
        decisions = decisions.filter(review__agent__in=agents)
    found = decisions.select_related("actor", "review").only(*SHOWN)
    return [_like(one) for one in found.order_by("-review__closed_at")[:CASES]]


def _like(decision: Decision) -> LikeCase:
    is_bad = registry.tone(decision.kind) == "bad"
    is_edit = decision.kind == "edit"
    figures: dict[str, Any] = (decision.review.detail or {}).get("figures") or {}
    return LikeCase(
        decision=decision,
        words=registry.done(decision.kind),
        tone="bad" if is_bad else "" if is_edit else "good",
        icon="error" if is_bad else "pencil" if is_edit else "good",
        confidence=words.percent(share(figures.get("confidence"))),
    )


def in_favour(found: Sequence[LikeCase], review: Review) -> str:
    """3 of 5 approved; for what cannot be approved, only how many there are."""
    if not found:
        return ""
    if not review.tool or review.kind != ReviewKind.WAITING:
        return words.plural(len(found), "decision")
    approved = sum(case.decision.kind in IN_FAVOUR for case in found)
    return f"{approved} of {len(found)} approved"
