"""What a change of a run's state means here: a review opens, or is cancelled.

Runs in the transaction that changes the run, and only writes rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from reviews import alike, deadlines, drift, ranking, searching, telling
from reviews.models import Review
from reviews.models.review import ReviewKind, ReviewQuerySet, ReviewStatus
from runs.canonical import Json, shorten
from runs.models import Run
from runs.states import ParkReason, RunState
from runs.values import RunChange

MAX_TITLE = 300
SHOWN = ("figures", "error", "reasoning", "terms")
WAITING = ReviewKind.WAITING.value


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

    Inside the caller's transaction. Returns the one there is: open, or expired at this
    very park, after which only a person asks again.
    """
    known = of_park(run).first()
    if known is not None:
        return known
    review = Review.objects.create(**_described(run, park, at))
    if review.reason == ParkReason.CHANGED:
        drift.bring_back(review, at)
    telling.opened(run, review, at)
    return review


def of_park(run: Run) -> ReviewQuerySet:
    """The review of what the run waits for now."""
    unanswered = Q(status=ReviewStatus.EXPIRED.value, sequence=run.sequence)
    is_open = Q(status=ReviewStatus.OPEN.value)
    return Review.objects.filter(is_open | unanswered, run=run, kind=WAITING)


def cancel_review(run: Run, at: datetime) -> None:
    """Close the run's open review without a decision; the decided are closed."""
    Review.objects.open().filter(run=run).close(ReviewStatus.CANCELLED, at)


def _follow_up(run: Run, at: datetime) -> None:
    """Tell of what the run waited for: it is decided or cancelled by now."""
    waiting = run.reviews.filter(kind=ReviewKind.WAITING.value)
    if review := waiting.order_by("-opened_at").first():
        telling.closed(review, at)


def _described(run: Run, park: Mapping[str, Json], at: datetime) -> dict[str, Any]:
    call = park["call"] or {}
    rank = ranking.of(park)
    limits = deadlines.of(call.get("tool", ""), rank.risk, at)
    return {
        "run": run,
        "agent_id": run.agent_id,
        "step_number": park["step"],
        "sequence": run.sequence,
        "reason": park["reason"],
        "title": shorten(" ".join(str(park["title"]).split()), MAX_TITLE),
        "question": park["question"],
        "detail": {name: park.get(name) for name in SHOWN},
        "proposal": call,
        "tool": call.get("tool", ""),
        "shape": alike.shape(park),
        "digest": call.get("digest", ""),
        "seal": park["seal"],
        "risk": rank.risk.value,
        "stakes": rank.as_json(),
        "search_text": searching.text_of(run, park),
        "opened_at": at,
        "due_at": limits.due_at,
        "expires_at": limits.expires_at,
        "rank_at": rank.at(at, limits.due_at),
    }
