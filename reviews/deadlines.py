"""By when an item is to be decided, and until when it can be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from agentops.conf import product
from reviews.models.review import Risk
from runs.models import Tool


@dataclass(frozen=True)
class Deadlines:
    """`expires_at` is None for an item that never expires."""

    due_at: datetime
    expires_at: datetime | None


def of(tool: str, risk: Risk, at: datetime) -> Deadlines:
    """Of an item that opens at `at`: the tool's own numbers, else those of the risk.

    What expires is due then at the latest. One query if there is a tool.
    """
    row = Tool.objects.filter(pk=tool).values("due_s", "expires_s").first()
    own = row if tool and row else {"due_s": None, "expires_s": None}
    due_s = _first(own["due_s"], _by_risk_due_s(risk))
    expires_s = _first(own["expires_s"], _by_risk_expires_s(risk))
    if not expires_s:
        return Deadlines(at + timedelta(seconds=due_s), None)
    due_at = at + timedelta(seconds=min(due_s, expires_s))
    return Deadlines(due_at, at + timedelta(seconds=expires_s))


def _first(own: float | None, general: float) -> float:
    return general if own is None else own


def _by_risk_due_s(risk: Risk) -> float:
    numbers = product()
    is_high = risk is Risk.HIGH
    return numbers.review_due_high_risk_s if is_high else numbers.review_due_s


def _by_risk_expires_s(risk: Risk) -> float:
    numbers = product()
    is_high = risk is Risk.HIGH
    return numbers.review_expires_high_risk_s if is_high else numbers.review_expires_s
