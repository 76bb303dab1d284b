"""The saved views of the inbox: a name, and which reviews each holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

from reviews.models.review import ReviewKind, ReviewStatus
from runs.states import ParkReason

SOON = timedelta(hours=1)
LOOK_BACK = timedelta(days=7)

UNSURE = frozenset(
    {ParkReason.LOW_CONFIDENCE, ParkReason.ANSWER, ParkReason.CHECK_FAILED}
)
BROKEN = frozenset(
    {
        ParkReason.RETRIES,
        ParkReason.FATAL,
        ParkReason.REFUSED,
        ParkReason.INVALID_CALLS,
        ParkReason.NO_PROGRESS,
        ParkReason.CONTEXT,
        ParkReason.POISON,
    }
)
BUDGET = frozenset({ParkReason.BUDGET})
UNKNOWN = frozenset({ParkReason.OUTCOME_UNKNOWN})
BY_RANK = ("rank_at", "pk")
NEWEST = ("-closed_at", "-pk")


@dataclass(frozen=True)
class View:
    """One saved view; in `is_open` ones, something is to be decided or judged.

    Of the open reviews it holds those of `reasons`, of all if there are none named,
    and of these what `where` lets through. `empty` says why nothing is there.
    """

    name: str
    title: str
    empty: str
    where: Q = field(default_factory=Q)
    reasons: frozenset[ParkReason] = frozenset()
    is_open: bool = True
    kind: ReviewKind = ReviewKind.WAITING

    @property
    def condition(self) -> Q:
        """The whole of it, as it stands in a WHERE."""
        is_open = Q(status=ReviewStatus.OPEN.value)
        mine = is_open & Q(kind=self.kind.value) if self.is_open else ~is_open
        wanted = self.where & mine
        return wanted & Q(reason__in=self.reasons) if self.reasons else wanted

    @property
    def order(self) -> tuple[str, str]:
        return BY_RANK if self.is_open else NEWEST


def views(user: User, now: datetime) -> Sequence[View]:
    """Every view, in the order of the navigation."""
    return (*_by_person(user, now), *_by_reason(), *_looking_back(now))


def _by_person(user: User, now: datetime) -> Sequence[View]:
    is_held = Q(holder__isnull=False, holder_until__gt=now)
    nobody = "Nobody is waited for: what is open is held by somebody."
    overdue = "Nothing is overdue, or due within the hour."
    mine = "You hold nothing. What you claim is here."
    return (
        View("open", "Needs a decision", ""),
        View("mine", "Mine", mine, is_held & Q(holder=user)),
        View("unclaimed", "Unclaimed", nobody, ~is_held),
        View("soon", "Due soon", overdue, Q(due_at__lte=now + SOON)),
    )


def _by_reason() -> Sequence[View]:
    unsure = "No call and no answer waits for want of confidence."
    budget = "No run has used up one of its budgets."
    broken = "No run is stopped by an error, or stuck."
    unknown = "There is no call of which nobody knows whether it took effect."
    return (
        View("unsure", "Low confidence", unsure, reasons=UNSURE),
        View("budget", "Budget", budget, reasons=BUDGET),
        View("errors", "Errors", broken, reasons=BROKEN),
        View("unknown", "Outcome unknown", unknown, reasons=UNKNOWN),
    )


def _looking_back(now: datetime) -> Sequence[View]:
    """What expired is listed while its run still waits to be resumed or aborted."""
    left = Q(status=ReviewStatus.EXPIRED.value, run__parked_at__isnull=False)
    recent = Q(closed_at__gte=now - LOOK_BACK)
    expired = "No run is left parked because nobody decided in time."
    decided = "Nothing has been closed in the last 7 days."
    judge = "All that went ahead unsure has been judged good or bad."
    afterwards = ReviewKind.AFTERWARDS
    return (
        View("judge", "Went ahead, unsure", judge, kind=afterwards),
        View("expired", "Expired", expired, left, is_open=False),
        View("decided", "Decided", decided, recent, is_open=False),
    )


# Views of what is closed: nothing in them is decided, so they lead nowhere on.
CLOSED = frozenset({"expired", "decided"})
NAMES = (
    "open",
    "mine",
    "unclaimed",
    "soon",
    "unsure",
    "budget",
    "errors",
    "unknown",
    "judge",
    "expired",
    "decided",
)


def find(name: str, user: User, now: datetime) -> View:
    """Raises StopIteration for a name that is none."""
    return next(view for view in views(user, now) if view.name == name)
