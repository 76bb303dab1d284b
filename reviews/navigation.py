"""The navigation of the inbox: every view with its count, and what filters offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Value

from reviews.filters import AGES, Filters, Narrowing
from reviews.models import Review
from reviews.saved_views import View, views
from runs.models import Agent, Run, Tool
from runs.states import ParkReason, choices
from runs.tools.base import titled

LOOKING_BACK = frozenset({"judge", "expired", "decided"})
BY_REASON = frozenset({"unsure", "budget", "errors", "unknown"})
MOST_PEOPLE = 200


@dataclass(frozen=True)
class Link:
    """A line of the navigation."""

    view: View
    count: int
    is_here: bool


@dataclass(frozen=True)
class Navigation:
    links: Sequence[Link]
    here: View

    @property
    def groups(self) -> list[tuple[str, list[Link]]]:
        """Heading and lines; the first group needs no heading."""
        rest = LOOKING_BACK | BY_REASON
        named = [("", None), ("By reason", BY_REASON), ("Looking back", LOOKING_BACK)]
        return [
            (
                heading,
                [
                    link
                    for link in self.links
                    if (
                        link.view.name in names if names else link.view.name not in rest
                    )
                ],
            )
            for heading, names in named
        ]

    @property
    def waiting(self) -> int:
        """How many need a decision: the number in the top bar and the tab's title."""
        return next(link.count for link in self.links if link.view.name == "open")

    @property
    def counts(self) -> list[int]:
        return [link.count for link in self.links]


def of(user: User, filters: Filters, now: datetime) -> Navigation:
    """The views with their counts; two queries, however many views there are."""
    known = views(user, now)
    back = [view for view in known if view.name in LOOKING_BACK]
    ahead = [view for view in known if view.name not in LOOKING_BACK]
    counts = _waiting(user, ahead) | _looking_back(user, back)
    links = [Link(v, counts[v.name], v.name == filters.view) for v in known]
    return Navigation(links, next(v for v in known if v.name == filters.view))


def _waiting(user: User, known: Sequence[View]) -> dict[str, int]:
    """Counted reason by reason, so that the views of reasons are sums."""
    plain = {v.name: Count("pk", filter=v.where) for v in known if v.where}
    found = Review.objects.visible_to(user).open().order_by().values("reason")
    rows = list(found.annotate(open=Count("pk"), **plain))
    return {view.name: sum(_share(view, row) for row in rows) for view in known}


def _share(view: View, row: Mapping[str, Any]) -> int:
    """How many of the reviews of one reason a view holds."""
    if view.reasons and row["reason"] not in view.reasons:
        return 0
    return int(row[view.name if view.where else "open"])


def _looking_back(user: User, known: Sequence[View]) -> dict[str, int]:
    """Each by an index of its own, in one query."""
    seen = Review.objects.visible_to(user).order_by()
    first, *others = (
        seen.filter(view.condition)
        .values(view=Value(view.name))
        .annotate(count=Count("pk"))
        for view in known
    )
    found = {row["view"]: row["count"] for row in first.union(*others, all=True)}
    return {view.name: found.get(view.name, 0) for view in known}


def offers(user: User) -> dict[str, Any]:
    """What the filters offer; three queries."""
    return {
        "agents": list(Agent.objects.values_list("slug", "name")),
        "tools": [
            (name, titled(name))
            for name in Tool.objects.order_by("name").values_list("name", flat=True)
        ],
        "reasons": choices(ParkReason),
        "people": list(_submitters()),
        "ages": [(value, label) for value, (label, _) in AGES.items()],
    }


def narrowings(filters: Filters) -> list[Narrowing]:
    """The filters in force; a query where one of them is an agent."""
    name = ""
    if filters.agent:
        agents = Agent.objects.filter(slug=filters.agent)
        name = agents.values_list("name", flat=True).first() or ""
    return filters.narrowings(name)


def _submitters() -> Sequence[str]:
    asked = Run.objects.filter(submitter=OuterRef("pk"))
    found = User.objects.filter(Exists(asked)).order_by("username")
    return list(found.values_list("username", flat=True)[:MOST_PEOPLE])
