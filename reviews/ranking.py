"""How much weighs on a review: one rule with points, documented in docs/decisions.md.

The points give both its risk and its place in the inbox. The place never changes by
itself while time goes by: an item counts as due once its window, from opening to
deadline, divided by 1 + points, is over. So `rank_at` is a plain column to order by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation

from reviews.models.review import Risk
from runs.canonical import Json, dumps
from runs.states import ParkReason
from runs.tools.base import IRREVERSIBLE

HIGH = 3
WIDE = 5
FAR = Decimal("0.25")

_EFFECT = {
    IRREVERSIBLE: ("The call cannot be undone", 2),
    "idempotent": ("The call changes something", 1),
}
_FAILED = ("It stopped with an error", 1)
_REASON = {
    ParkReason.OUTCOME_UNKNOWN: ("Nobody knows whether the call took effect", 3),
    ParkReason.UNTRUSTED_CONTENT: ("It follows untrusted content", 1),
    ParkReason.REPEATED_CALL: ("The same call was made before", 1),
    ParkReason.RESTORED: ("It may have happened since the backup", 1),
    ParkReason.CHANGED: ("It changed since it was approved", 1),
    ParkReason.ESCALATION: ("The agent asks for a person", 1),
    ParkReason.FATAL: _FAILED,
    ParkReason.RETRIES: _FAILED,
    ParkReason.POISON: _FAILED,
}
_ADDRESS = re.compile(r"[^\s\"<>,;]+@[^\s\"<>,;]+")


@dataclass(frozen=True)
class Stake:
    """One thing that weighs on an item, in words."""

    label: str
    points: int

    def as_json(self) -> dict[str, Json]:
        return {"label": self.label, "points": self.points}


@dataclass(frozen=True)
class Rank:
    """All that weighs on an item."""

    stakes: Sequence[Stake]

    @property
    def points(self) -> int:
        return sum(stake.points for stake in self.stakes)

    @property
    def risk(self) -> Risk:
        if self.points >= HIGH:
            return Risk.HIGH
        return Risk.MEDIUM if self.points else Risk.LOW

    def at(self, opened_at: datetime, due_at: datetime) -> datetime:
        """When the item counts as due: its window is divided by its weight."""
        return weighed(opened_at, due_at, self.points)

    def as_json(self) -> list[dict[str, Json]]:
        """As `Review.stakes` has it."""
        return [stake.as_json() for stake in self.stakes]


def weighed(opened_at: datetime, due_at: datetime, points: int) -> datetime:
    """The moment at which an item with so many points counts as due."""
    return opened_at + (due_at - opened_at) / (1 + points)


def of(park: Mapping[str, Json]) -> Rank:
    """What weighs on a run's park, as `values.Park.as_json` has it."""
    return Rank(tuple(_stakes(park)))


def _stakes(park: Mapping[str, Json]) -> Iterator[Stake]:
    call = park["call"]
    if call and call["effect"] in _EFFECT:
        yield Stake(*_EFFECT[call["effect"]])
    reason = ParkReason(park["reason"])
    if reason in _REASON:
        yield Stake(*_REASON[reason])
    number = reach(call["arguments"]) if call else 0
    if number > WIDE:
        yield Stake(f"It reaches {number} e-mail addresses", 1)
    if _gap(park.get("figures") or {}) >= FAR:
        yield Stake("The check is far from sure", 1)


def reach(arguments: Mapping[str, Json]) -> int:
    """How many different e-mail addresses a call's arguments name."""
    return len({found.lower() for found in _ADDRESS.findall(dumps(arguments))})


def _gap(figures: Mapping[str, Json]) -> Decimal:
    """By how much the stated confidence misses what is needed; 0 where none is."""
    try:
        needed = Decimal(str(figures["threshold"]))
        return max(needed - Decimal(str(figures["confidence"])), Decimal(0))
    except (KeyError, InvalidOperation):
        return Decimal(0)
