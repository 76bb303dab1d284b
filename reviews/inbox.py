"""The inbox: the rows of one view, and what is before and after an item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Prefetch

from agentops.http import moment
from reviews import saved_views
from reviews.decisions import registry
from reviews.filters import Filters
from reviews.models import Decision, Review
from reviews.models.review import ReviewQuerySet, ReviewStatus
from runs.standing import BAD_REASONS
from runs.states import ParkReason

ROWS = 100
MOST_NEWS = 99

ICONS = {
    ParkReason.LOW_CONFIDENCE: "gauge",
    ParkReason.REVIEW_RULE: "plan",
    ParkReason.ALWAYS_ASK: "person",
    ParkReason.UNTRUSTED_CONTENT: "web",
    ParkReason.REPEATED_CALL: "again",
    ParkReason.CHECK_FAILED: "gauge",
    ParkReason.CHANGED: "changed",
    ParkReason.QUESTION: "question",
    ParkReason.ESCALATION: "over",
    ParkReason.ANSWER: "gauge",
    ParkReason.BUDGET: "coin",
    ParkReason.NO_PROGRESS: "again",
    ParkReason.OPEN_PLAN: "plan",
    ParkReason.CONTEXT: "fold",
    ParkReason.OUTCOME_UNKNOWN: "unknown",
}
DONE_WORDS = {
    "approve": "Approved",
    "edit": "Edited and approved",
    "reject": "Rejected",
    "guide": "Guided",
    "answer": "Answered",
    "retry": "Retried",
    "outcome": "Outcome recorded",
    "top_up": "Budget raised",
    "supply": "Result supplied",
    "plan": "Plan changed",
    "fork": "Forked",
    "abort": "Aborted",
    "go_on": "Went on without an answer",
    "good": "Judged good",
    "bad": "Judged bad",
}
NEUTRAL_DECISIONS = frozenset({"go_on"})
BAD_DECISIONS = frozenset({"reject", "abort", "bad"})


@dataclass(frozen=True)
class Row:
    """A review as the list shows it."""

    review: Review
    tone: str
    icon: str
    reason: str
    is_held: bool
    is_yours: bool
    decision: Decision | None

    @property
    def is_open(self) -> bool:
        return self.review.status == ReviewStatus.OPEN.value

    @property
    def went_well(self) -> bool:
        """Whether it was decided, and what was asked for was not turned down."""
        return self.decision is not None and self.decision.kind not in BAD_DECISIONS

    @property
    def ended(self) -> str:
        """How it ended, in words: expired and cancelled are no decisions."""
        if self.decision is not None:
            return decided_words(self.decision)
        if self.review.status == ReviewStatus.EXPIRED.value:
            return "Expired, nobody answered"
        return str(self.review.status).capitalize()

    @property
    def end_tone(self) -> str:
        """Turned down is bad; a silence and a cancelled run are neither good nor bad."""
        if self.decision is None:
            return "wait" if self.review.status == ReviewStatus.EXPIRED.value else ""
        if self.decision.kind in NEUTRAL_DECISIONS:
            return "wait"
        return "good" if self.went_well else "bad"

    @property
    def end_icon(self) -> str:
        """Each way to end has its own: colour alone tells nothing."""
        if self.decision is None:
            is_expired = self.review.status == ReviewStatus.EXPIRED.value
            return "clock" if is_expired else "stop"
        return {"good": "tick", "wait": "next"}.get(self.end_tone, "error")


def rows(user: User, filters: Filters, now: datetime) -> list[Row]:
    """Up to `ROWS`, the one that counts as due first on top; what is decided, newest on top."""
    view = saved_views.find(filters.view, user, now)
    found = filters.apply(seen_by(user)).filter(view.where)
    if view.is_open:
        found = found.open().order_by("rank_at", "pk")
    else:
        found = found.exclude(status=ReviewStatus.OPEN.value).order_by("-closed_at")
    return [row(review, user, now) for review in found[:ROWS]]


def again(user: User, ids: Sequence[str], now: datetime) -> list[Row]:
    """The rows that a list shows already, fresh and in their order."""
    wanted = [uuid for uuid in map(_uuid, ids[:ROWS]) if uuid]
    found = seen_by(user).in_bulk(wanted)
    return [row(found[uuid], user, now) for uuid in wanted if uuid in found]


def news(user: User, filters: Filters, newest: str) -> int:
    """How many open ones have come since; one query."""
    since = moment(newest)
    if since is None or filters.view == "decided":
        return 0
    found = filters.apply(Review.objects.visible_to(user).open())
    return found.filter(opened_at__gt=since).order_by()[:MOST_NEWS].count()


def seen_by(user: User) -> ReviewQuerySet:
    standing = Decision.objects.filter(undone_at=None).select_related("actor")
    return (
        Review.objects.visible_to(user)
        .select_related("run__agent", "run__submitter", "holder")
        .defer("search_text", "detail", "run__search_text", "run__output")
        .prefetch_related(Prefetch("decisions", standing, to_attr="standing"))
    )


def row(review: Review, user: User, now: datetime) -> Row:
    """`review` as `seen_by` gives it."""
    reason = ParkReason(review.reason)
    until = review.holder_until
    is_held = review.holder is not None and until is not None and until > now
    standing: list[Decision] = getattr(review, "standing", [])
    return Row(
        review=review,
        tone="bad" if reason in BAD_REASONS else "wait",
        icon=ICONS.get(reason, "error"),
        reason=reason.label,
        is_held=is_held,
        is_yours=is_held and review.holder_id == user.pk,
        decision=standing[0] if standing else None,
    )


def decided_words(decision: Decision) -> str:
    known = DONE_WORDS.get(decision.kind)
    return known or registry.find(decision.kind).words


def neighbours(user: User, review: Review) -> dict[str, Any]:
    """Where a review stands among the open ones, and what is before and after it."""
    found = Review.objects.visible_to(user).open().order_by("rank_at", "pk")
    waiting = list(found.values("pk", "title")[: ROWS + 1])
    ids = [one["pk"] for one in waiting]
    here = ids.index(review.pk) if review.pk in ids else None
    others = [one for one in waiting if one["pk"] != review.pk]
    if here is None:
        return {"next": others[0] if others else None, "total": len(waiting)}
    return {
        "place": here + 1,
        "total": len(waiting),
        "previous": waiting[here - 1] if here else None,
        "next": waiting[here + 1] if here + 1 < len(waiting) else None,
        "another": others[0] if others else None,
    }


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def last_closed(user: User) -> datetime | None:
    """When the last item was closed, for the empty inbox."""
    closed = Review.objects.visible_to(user).exclude(closed_at=None)
    return closed.order_by("-closed_at").values_list("closed_at", flat=True).first()
