"""What the address of the inbox asks for: a view, a search, filters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from agentops.http import words
from reviews.models.review import ReviewQuerySet
from reviews.saved_views import CLOSED, NAMES
from reviews.searching import search
from runs.states import ParkReason, choices
from runs.tools.base import titled
from runs.words import money

AGES = {
    "1h": ("1 hour", timedelta(hours=1)),
    "4h": ("4 hours", timedelta(hours=4)),
    "1d": ("1 day", timedelta(days=1)),
    "3d": ("3 days", timedelta(days=3)),
    "7d": ("7 days", timedelta(days=7)),
}
MOST_COST = Decimal(1_000_000)


@dataclass(frozen=True)
class Narrowing:
    """One filter in force, in words, and the address without it."""

    label: str
    query: str


@dataclass(frozen=True)
class Filters:
    """What the address asks for; unknown values count as not given.

    `older` is a key of `AGES`, `cost` US dollars as text.
    """

    view: str = "open"
    q: str = ""
    agent: str = ""
    tool: str = ""
    reason: str = ""
    by: str = ""
    older: str = ""
    cost: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Filters:
        reason = query.get("reason", "")
        older = query.get("older", "")
        return cls(
            view=query["view"] if query.get("view") in NAMES else "open",
            q=words(query.get("q", ""), 200),
            agent=words(query.get("agent", ""), 50),
            tool=words(query.get("tool", ""), 100),
            reason=reason if reason in dict(choices(ParkReason)) else "",
            by=words(query.get("by", ""), 150),
            older=older if older in AGES else "",
            cost=_amount(query.get("cost", "")),
        )

    def query(self, **changes: str) -> str:
        """As the address has it; the default view and what is empty are left out."""
        values = vars(self) | changes
        if values["view"] == "open":
            values["view"] = ""
        return urlencode({name: value for name, value in values.items() if value})

    def apply(self, reviews: ReviewQuerySet, now: datetime) -> ReviewQuerySet:
        """All but the view."""
        if self.q:
            reviews = search(reviews, self.q)
        wanted: dict[str, object] = {
            "agent__slug": self.agent,
            "tool": self.tool,
            "reason": self.reason,
            "run__submitter__username": self.by,
        }
        if self.older:
            wanted["opened_at__lte"] = now - AGES[self.older][1]
        if self.cost:
            wanted["run__cost__gte"] = Decimal(self.cost)
        return reviews.filter(
            **{name: value for name, value in wanted.items() if value}
        )

    @property
    def tail(self) -> str:
        """What an address inside this list ends with: "?" and the query, or nothing."""
        return f"?{self.same}" if self.same else ""

    @property
    def onward(self) -> Filters:
        """The list whose items one goes through: what is closed leads to what is open."""
        return Filters() if self.view in CLOSED else self

    @property
    def same(self) -> str:
        return self.query()

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """Name and value of what is given, for the fields of a form."""
        return [(name, value) for name, value in vars(self).items() if value]

    @property
    def is_narrowed(self) -> bool:
        return bool(self.q) or self.number > 0

    @property
    def number(self) -> int:
        """How many filters are in force; the search is none."""
        return sum(1 for _ in self._narrowings())

    def narrowings(self, agent: str = "") -> list[Narrowing]:
        """What is in force, each with the way out; `agent` is the agent's name."""
        found = dict(self._narrowings())
        if "agent" in found:
            found["agent"] = f"Agent {agent or self.agent}"
        return [
            Narrowing(text, self.query(**{name: ""})) for name, text in found.items()
        ]

    def _narrowings(self) -> Iterator[tuple[str, str]]:
        if self.agent:
            yield "agent", f"Agent {self.agent}"
        if self.tool:
            yield "tool", titled(self.tool)
        if self.reason:
            yield "reason", ParkReason(self.reason).label
        if self.by:
            yield "by", f"Asked by {self.by}"
        if self.older:
            yield "older", f"Older than {AGES[self.older][0]}"
        if self.cost:
            yield "cost", f"Cost {money(self.cost)} or more"


def _amount(text: str) -> str:
    """Dollars as text that can be counted with; "" for anything else."""
    try:
        amount = Decimal(text.strip()[:20])
        return f"{amount.normalize():f}" if 0 < amount <= MOST_COST else ""
    except InvalidOperation:
        return ""
