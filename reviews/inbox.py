"""The inbox: the rows of one view, and what is before and after an item."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import (
    Count,
    Exists,
    OuterRef,
    Prefetch,
    Q,
    prefetch_related_objects,
)

from agentops import clock
from agentops.http import moment
from reviews import saved_views
from reviews.decisions import registry
from reviews.filters import Filters
from reviews.models import Decision, Review, Seen
from reviews.models.review import ReviewKind, ReviewQuerySet, ReviewStatus
from reviews.saved_views import View
from runs import words
from runs.standing import BAD_REASONS
from runs.states import ParkReason

OF_PERSON = ("username", "first_name", "last_name")
LISTED = (
    *("version", "status", "kind", "reason", "risk", "stakes", "shape"),
    *("title", "question", "opened_at", "due_at", "rank_at", "closed_at"),
    *("holder_until", "run__agent__name"),
    *(f"holder__{name}" for name in OF_PERSON),
    *(f"run__submitter__{name}" for name in OF_PERSON),
)
"""The columns of a row: a page asks for many rows every few seconds."""

ROWS = 25
MOST_ROWS = 500
MOST_NEWS = 99

ICONS = {
    ParkReason.LOW_CONFIDENCE: "gauge",
    ParkReason.REVIEW_RULE: "plan",
    ParkReason.ALWAYS_ASK: "person",
    ParkReason.UNTRUSTED_CONTENT: "web",
    ParkReason.REPEATED_CALL: "again",
    ParkReason.RESTORED: "unknown",
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


@dataclass(frozen=True)
class WhyRank:
    """Why an item stands where it does: what weighs, and what that does to its time."""

    stakes: list[dict[str, Any]]
    points: int
    window: str
    share: str
    acts_at: datetime

    @classmethod
    def of(cls, review: Review) -> WhyRank:
        window = (review.due_at - review.opened_at).total_seconds()
        share = (review.rank_at - review.opened_at).total_seconds()
        points = sum(int(stake["points"]) for stake in review.stakes)
        return cls(
            list(review.stakes),
            points,
            words.coarse(window),
            words.coarse(share),
            review.rank_at,
        )


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
    is_seen: bool = True
    urgency: str = ""

    @property
    def is_open(self) -> bool:
        return self.review.status == ReviewStatus.OPEN.value

    @property
    def is_waited_for(self) -> bool:
        """Does a run wait for it? What went ahead is only to be judged."""
        return self.is_open and self.review.kind == ReviewKind.WAITING.value

    @property
    def ended(self) -> str:
        """How it ended, in words: expired and cancelled are no decisions."""
        if self.decision is not None:
            return registry.done(self.decision.kind)
        if self.review.status == ReviewStatus.EXPIRED.value:
            return "Expired, nobody answered"
        return str(self.review.status).capitalize()

    @property
    def end_tone(self) -> str:
        """Turned down is bad; a silence and a cancelled run are neither good nor bad."""
        if self.decision is None:
            return "wait" if self.review.status == ReviewStatus.EXPIRED.value else ""
        return registry.tone(self.decision.kind)

    @property
    def end_icon(self) -> str:
        """Each way to end has its own: colour alone tells nothing."""
        if self.decision is None:
            is_expired = self.review.status == ReviewStatus.EXPIRED.value
            return "clock" if is_expired else "stop"
        return {"good": "tick", "wait": "next"}.get(self.end_tone, "error")

    @property
    def why_rank(self) -> WhyRank:
        return WhyRank.of(self.review)

    @property
    def looks(self) -> str:
        """All of it that can change while it is shown."""
        review = self.review
        holder = review.holder_id if self.is_held else ""
        return f"{review.pk} {review.version} {holder} {self.is_seen} {self.urgency}"


@dataclass(frozen=True)
class Page:
    """A part of a list, in its order.

    `until` marks the last row where more follow, else "".
    """

    rows: list[Row]
    until: str = ""


def page(
    user: User,
    filters: Filters,
    now: datetime,
    *,
    after: str = "",
    through: str | None = None,
) -> Page:
    """The rows from the top, or after a mark; two queries.

    `through` takes all rows up to that mark ("": to the end) instead of `ROWS`, but no
    more than `MOST_ROWS`.
    """
    view = saved_views.find(filters.view, user, now)
    found = _of(view, seen_by(user), filters, now).order_by(*view.order)
    start, end = _position(after), _position(through or "")
    if start:
        found = found.filter(_beyond(view, *start))
    if end:
        found = found.exclude(_beyond(view, *end))
    most = ROWS if through is None else MOST_ROWS
    some = _listed(found[: most + 1])
    shown = [row(review, user, now) for review in some[:most]]
    is_more = len(some) > most or bool(end)
    return Page(shown, _mark(view, shown[-1].review) if shown and is_more else "")


def again(user: User, ids: Sequence[str], now: datetime) -> list[Row]:
    """The rows that a list shows already, fresh and in their order; two queries."""
    wanted = [uuid for uuid in map(_uuid, ids[:MOST_ROWS]) if uuid]
    some = _listed(seen_by(user).filter(pk__in=wanted))
    found = {review.pk: review for review in some}
    return [row(found[uuid], user, now) for uuid in wanted if uuid in found]


def news(
    user: User, filters: Filters, now: datetime, shown: Sequence[Row], until: str
) -> int:
    """How many belong among the shown rows and are not there; one query.

    Where more rows follow, only what comes before the mark is new to the list.
    """
    view = saved_views.find(filters.view, user, now)
    found = _of(view, Review.objects.visible_to(user), filters, now)
    end = _position(until)
    if end:
        found = found.exclude(_beyond(view, *end))
    ids = [row.review.pk for row in shown]
    return found.exclude(pk__in=ids).order_by()[:MOST_NEWS].count()


def _of(
    view: View, reviews: ReviewQuerySet, filters: Filters, now: datetime
) -> ReviewQuerySet:
    return filters.apply(reviews.filter(view.condition), now)


def _beyond(view: View, at: datetime, pk: UUID) -> Q:
    """What comes after a row in the view's order."""
    name, side = ("rank_at", "gt") if view.is_open else ("closed_at", "lt")
    return Q(**{f"{name}__{side}": at}) | Q(**{name: at, f"pk__{side}": pk})


def _mark(view: View, review: Review) -> str:
    at = review.rank_at if view.is_open else review.closed_at
    return f"{at.isoformat()}~{review.pk}" if at else ""


def _position(mark: str) -> tuple[datetime, UUID] | None:
    at_text, _, id_text = mark.partition("~")
    at, pk = moment(at_text), _uuid(id_text)
    return (at, pk) if at and pk else None


def fingerprint(rows: Sequence[Row], *rest: object) -> str:
    """The same as long as a list would look the same, ages and times left aside."""
    seen = "|".join([*(row.looks for row in rows), *map(str, rest)])
    return hashlib.sha256(seen.encode()).hexdigest()[:16]


def seen_by(user: User) -> ReviewQuerySet:
    opened = Seen.objects.filter(review=OuterRef("pk"), person=user)
    return (
        Review.objects.visible_to(user)
        .select_related("run__agent", "run__submitter", "holder")
        .annotate(is_seen=Exists(opened))
    )


def with_decisions(reviews: Sequence[Review]) -> Sequence[Review]:
    """The same, with what `row` says of closed ones; a query where there are any."""
    standing = Decision.objects.filter(undone_at=None).select_related("actor")
    closed = [one for one in reviews if one.status != ReviewStatus.OPEN.value]
    prefetch_related_objects(
        closed, Prefetch("decisions", standing, to_attr="standing")
    )
    return reviews


def _listed(reviews: ReviewQuerySet) -> Sequence[Review]:
    return with_decisions(list(reviews.only(*LISTED)))


def row(review: Review, user: User, now: datetime) -> Row:
    """`review` as `seen_by` gives it."""
    reason = ParkReason(review.reason)
    is_held = review.is_held(now)
    standing: list[Decision] = getattr(review, "standing", [])
    return Row(
        review=review,
        tone="bad" if reason in BAD_REASONS else "wait",
        icon=ICONS.get(reason, "error"),
        reason=reason.label,
        is_held=is_held,
        is_yours=is_held and review.holder_id == user.pk,
        decision=standing[0] if standing else None,
        is_seen=getattr(review, "is_seen", True),
        urgency=words.urgency(review.due_at, now),
    )


def neighbours(
    user: User,
    review: Review,
    filters: Filters | None = None,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Where a review stands in a view, and what is before and after it.

    A review that is closed has a place still: what follows it is next, else what is
    on top. Views of what is closed have none, so their neighbours are those of all.
    At most three queries, each by an index of its own; together in one they take
    longer to build than to answer.
    """
    now = now or clock.now()
    filters = (filters or Filters()).onward
    view = saved_views.find(filters.view, user, now)
    found = _of(view, Review.objects.visible_to(user), filters, now)
    others = found.exclude(pk=review.pk).order_by(*view.order)
    after = _beyond(view, review.rank_at, review.pk)
    ahead = others.exclude(after).reverse()
    following = _first(others.filter(after))
    if review.status != ReviewStatus.OPEN.value:
        return {"next": following or _first(others), "total": others.count()}
    numbers = others.order_by().aggregate(
        before=Count("pk", filter=~after), total=Count("pk")
    )
    return {
        "place": numbers["before"] + 1,
        "total": numbers["total"] + 1,
        "previous": _first(ahead) if numbers["before"] else None,
        "next": following,
    }


def _first(reviews: ReviewQuerySet) -> Mapping[str, Any] | None:
    return reviews.values("pk", "title").first()


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def last_closed(user: User) -> datetime | None:
    """When the last item was closed, for the empty inbox."""
    closed = Review.objects.visible_to(user).exclude(closed_at=None)
    return closed.order_by("-closed_at").values_list("closed_at", flat=True).first()
