"""What the address of the inbox asks for: a view, a search, filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from agentops.http import words
from reviews.models.review import ReviewQuerySet
from reviews.searching import search
from runs.states import ParkReason, choices


@dataclass(frozen=True)
class Filters:
    """What the address asks for; unknown values count as not given."""

    view: str = "open"
    q: str = ""
    agent: str = ""
    reason: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Filters:
        known = {"open", "mine", "unclaimed", "soon", "decided"}
        reason = query.get("reason", "")
        return cls(
            view=query["view"] if query.get("view") in known else "open",
            q=words(query.get("q", ""), 200),
            agent=words(query.get("agent", ""), 50),
            reason=reason if reason in dict(choices(ParkReason)) else "",
        )

    def query(self, **changes: str) -> str:
        values = {
            "view": "" if self.view == "open" else self.view,
            "q": self.q,
            "agent": self.agent,
            "reason": self.reason,
        } | changes
        return urlencode({name: value for name, value in values.items() if value})

    def apply(self, reviews: ReviewQuerySet) -> ReviewQuerySet:
        if self.q:
            reviews = search(reviews, self.q)
        if self.agent:
            reviews = reviews.filter(agent__slug=self.agent)
        if self.reason:
            reviews = reviews.filter(reason=self.reason)
        return reviews

    @property
    def same(self) -> str:
        return self.query()

    @property
    def is_narrowed(self) -> bool:
        return bool(self.q or self.agent or self.reason)
