"""The list of runs: what was asked for, and the page of rows that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from agentops.http import moment, words
from runs import searching
from runs.models import Agent, Run
from runs.states import ParkReason, RunState, choices

PAGE = 25
MOST_NEWS = 99
MOST_PEOPLE = 200
STATES = [("active", "At work"), *choices(RunState)]
HEAVY = ("search_text", "output", "guidance", "inputs", "system_digest", "tools_digest")


@dataclass(frozen=True)
class Filters:
    """What the address asks for; unknown values count as not given."""

    q: str = ""
    state: str = ""
    agent: str = ""
    by: str = ""
    reason: str = ""
    errors: bool = False
    before: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Filters:
        return cls(
            q=words(query.get("q", ""), 200),
            state=_known(query.get("state", ""), STATES),
            agent=words(query.get("agent", ""), 50),
            by=words(query.get("by", ""), 150),
            reason=_known(query.get("reason", ""), choices(ParkReason)),
            errors=bool(query.get("errors")),
            before=query.get("before", ""),
        )

    @property
    def is_set(self) -> bool:
        return any((self.q, self.state, self.agent, self.by, self.reason, self.errors))

    @property
    def folded(self) -> bool:
        """Is any of the filters set that the narrow form keeps in its fold?"""
        return any((self.agent, self.by, self.reason, self.errors))

    def query(self, **changes: str) -> str:
        """The same as an address, with changes; what is empty is left out."""
        values = {
            "q": self.q,
            "state": self.state,
            "agent": self.agent,
            "by": self.by,
            "reason": self.reason,
            "errors": "1" if self.errors else "",
            "before": self.before,
        } | changes
        return urlencode({name: value for name, value in values.items() if value})

    @property
    def same(self) -> str:
        return self.query(before="")

    def apply(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        if self.q:
            runs = searching.matching(runs, self.q)
        if self.state:
            runs = runs.filter(self._of_state())
        if self.agent:
            runs = runs.filter(agent__slug=self.agent)
        if self.by:
            runs = runs.filter(submitter__username=self.by)
        if self.reason:
            runs = runs.filter(park_reason=self.reason)
        return runs.filter(had_error=True) if self.errors else runs

    def _of_state(self) -> Q:
        """In words that an index knows: `state` itself is in none."""
        at_work = Q(finished_at=None, parked_at=None)
        if self.state == "active":
            return at_work
        state = RunState(self.state)
        if state.is_final:
            return Q(outcome=state.value)
        if state is RunState.AWAITING_HUMAN:
            return Q(parked_at__isnull=False)
        return at_work & Q(state=state.value)


@dataclass(frozen=True)
class Page:
    """Up to `PAGE` runs, newest first; `older` is where the next page begins."""

    runs: list[Run]
    older: str
    newest: str

    @classmethod
    def of(cls, filters: Filters, user: User, now: datetime) -> Page:
        """One query."""
        runs = filters.apply(seen_by(user))
        start = _position(filters.before)
        if start is not None:
            at, run_id = start
            runs = runs.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=run_id))
        found = list(runs.order_by("-created_at", "-id")[: PAGE + 1])
        shown = found[:PAGE]
        older = _mark(shown[-1]) if len(found) > PAGE else ""
        newest = shown[0].created_at if shown and start is None else now
        return cls(shown, older, newest.isoformat())

    @classmethod
    def again(cls, ids: list[str], newest: str, user: User) -> Page:
        """The rows that a page shows already, fresh and in their order; one query."""
        wanted = [uuid for uuid in map(_uuid, ids[:PAGE]) if uuid]
        found = seen_by(user).in_bulk(wanted)
        return cls([found[uuid] for uuid in wanted if uuid in found], "", newest)


def seen_by(user: User) -> QuerySet[Run]:
    runs = Run.objects.visible_to(user)
    return runs.select_related("agent", "submitter").defer(*HEAVY)


def news(filters: Filters, user: User, newest: str) -> int:
    """How many runs have come since, up to `MOST_NEWS`; one query."""
    since = moment(newest)
    if since is None:
        return 0
    runs = filters.apply(Run.objects.visible_to(user)).filter(created_at__gt=since)
    return runs.order_by()[:MOST_NEWS].count()


def choices_for(user: User) -> dict[str, Any]:
    """What the filters offer; two queries."""
    own = Run.objects.filter(submitter=OuterRef("pk"))
    return {
        "states": STATES,
        "reasons": choices(ParkReason),
        "agents": list(Agent.objects.values_list("slug", "name")),
        "people": list(
            User.objects.filter(Exists(own))
            .order_by("username")
            .values_list("username", flat=True)[:MOST_PEOPLE]
        ),
    }


def _known(value: str, pairs: list[tuple[str, str]]) -> str:
    return value if value in dict(pairs) else ""


def _mark(run: Run) -> str:
    return f"{run.created_at.isoformat()}~{run.id}"


def _position(mark: str) -> tuple[datetime, UUID] | None:
    at_text, _, id_text = mark.partition("~")
    at, run_id = moment(at_text), _uuid(id_text)
    return (at, run_id) if at and run_id else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
