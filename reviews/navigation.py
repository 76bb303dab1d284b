"""The navigation of the inbox: every view with its count, and what filters offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Count

from reviews.filters import Filters
from reviews.models import Review
from reviews.saved_views import views
from runs.models import Agent
from runs.states import ParkReason, choices


@dataclass(frozen=True)
class Link:
    """A line of the navigation."""

    title: str
    count: int | None
    query: str
    is_here: bool


@dataclass(frozen=True)
class Navigation:
    views: Sequence[Link]
    reasons: Sequence[Link]
    back: Sequence[Link]
    title: str


def of(user: User, filters: Filters, now: datetime) -> Navigation:
    """The views with their counts; two queries."""
    known = views(user, now)
    waiting = Review.objects.visible_to(user).open()
    counts = waiting.aggregate(
        **{v.name: Count("pk", v.where, distinct=True) for v in known if v.is_open}
    )
    by_reason = dict(
        waiting.order_by()
        .values_list("reason")
        .annotate(number=Count("pk", distinct=True))
        .values_list("reason", "number")
    )
    here = filters.view if not filters.reason else ""
    links = [
        Link(v.title, counts[v.name], f"view={v.name}", v.name == here)
        for v in known
        if v.is_open
    ]
    reasons = [
        Link(label, by_reason[value], f"reason={value}", value == filters.reason)
        for value, label in choices(ParkReason)
        if value in by_reason
    ]
    decided = Link("Decided, last 7 days", None, "view=decided", here == "decided")
    titles = {v.name: v.title for v in known}
    title = titles[filters.view]
    if filters.reason:
        title = ParkReason(filters.reason).label
    return Navigation(links, reasons, [decided], title)


def agents() -> list[tuple[str, str]]:
    return list(Agent.objects.values_list("slug", "name"))
