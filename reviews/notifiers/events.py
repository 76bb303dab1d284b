"""What messages tell of, and when those that wait for a time are due."""

from __future__ import annotations

from datetime import datetime

from reviews.models import Review
from runs.states import RunState

OPENED = "opened"
REMINDER_HALF, REMINDER_LATE, OVERDUE = "reminder_half", "reminder_late", "overdue"
CLOSED = "closed"
EXPIRED = "expired"
PARKED, FINISHED, ABORTED, FAILED = "parked", "finished", "aborted", "failed"

REMINDERS = (REMINDER_HALF, REMINDER_LATE)
TO_DECIDE = (OPENED, REMINDER_HALF, REMINDER_LATE, OVERDUE)
"""These ask for a decision on an open item."""

_SHARES = {OPENED: 0.0, REMINDER_HALF: 0.5, REMINDER_LATE: 0.9, OVERDUE: 1.0}
_ENDS = {
    RunState.COMPLETED: FINISHED,
    RunState.ABORTED: ABORTED,
    RunState.ERROR: FAILED,
}


def moment(event: str, review: Review) -> datetime:
    """When this share of the item's time is over."""
    time = review.due_at - review.opened_at
    return review.opened_at + time * _SHARES[event]


def of_end(state: RunState) -> str:
    """Raises KeyError for a state in which a run goes on."""
    return _ENDS[state]
