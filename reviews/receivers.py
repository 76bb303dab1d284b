"""What a change of a run's state means here: a review opens, or is cancelled.

Runs in the transaction that changes the run, and only writes rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from agentops.conf import product
from reviews import alike, ranking, searching, telling
from reviews.models import Review
from reviews.models.review import ReviewKind, ReviewStatus, Risk
from runs.canonical import Json, shorten
from runs.models import Run
from runs.states import RunState
from runs.values import RunChange

MAX_TITLE = 300


def on_run_changed(sender: object, *, run: Run, change: RunChange, **_: Any) -> None:
    """Receives `runs.signals.run_changed`."""
    if change.to_state == RunState.AWAITING_HUMAN:
        open_review(run, change.park or run.park or {}, change.at)
        return
    if change.from_state == RunState.AWAITING_HUMAN:
        cancel_review(run, change.at)
        _follow_up(run, change.at)
    if change.to_state.is_final:
        telling.ended(run, change)


def open_review(run: Run, park: Mapping[str, Json], at: datetime) -> Review:
    """Open the one review of a parked run, and tell those who may decide.

    Inside the caller's transaction. Returns the open review if there is one.
    """
    known = Review.objects.open().filter(run=run).first()
    if known is not None:
        return known
    review = Review.objects.create(**_described(run, park, at))
    telling.opened(run, review, at)
    return review


def cancel_review(run: Run, at: datetime) -> None:
    """Close the run's open review without a decision; the decided are closed."""
    Review.objects.open().filter(run=run).update(
        status=ReviewStatus.CANCELLED.value,
        closed_at=at,
        version=F("version") + 1,
        holder=None,
        holder_until=None,
    )


def _follow_up(run: Run, at: datetime) -> None:
    """Tell of what the run waited for: it is decided or cancelled by now."""
    waiting = run.reviews.filter(kind=ReviewKind.WAITING.value)
    if review := waiting.order_by("-opened_at").first():
        telling.closed(review, at)


def _described(run: Run, park: Mapping[str, Json], at: datetime) -> dict[str, Any]:
    call = park["call"] or {}
    rank = ranking.of(park)
    due_at = at + timedelta(seconds=_due_s(rank.risk))
    return {
        "run": run,
        "agent_id": run.agent_id,
        "step_number": park["step"],
        "sequence": run.sequence,
        "reason": park["reason"],
        "title": shorten(" ".join(str(park["title"]).split()), MAX_TITLE),
        "question": park["question"],
        "detail": {name: park[name] for name in ("figures", "error", "reasoning")},
        "proposal": call,
        "tool": call.get("tool", ""),
        "shape": alike.shape(park),
        "digest": call.get("digest", ""),
        "seal": park["seal"],
        "risk": rank.risk.value,
        "stakes": rank.as_json(),
        "search_text": searching.text_of(run, park),
        "opened_at": at,
        "due_at": due_at,
        "rank_at": rank.at(at, due_at),
    }


def _due_s(level: Risk) -> float:
    if level is Risk.HIGH:
        return product().review_due_high_risk_s
    return product().review_due_s
