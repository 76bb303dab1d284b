"""A parked run as a person meets it."""

from __future__ import annotations

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from runs.models import Agent, Run
from runs.states import ParkReason, RunState, choices


class ReviewStatus(StrEnum):
    OPEN = "open"
    DECIDED = "decided"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class ReviewKind(StrEnum):
    """`waiting`: the run is parked until it is decided. `afterwards`: it went on."""

    WAITING = "waiting"
    AFTERWARDS = "afterwards"


WAITS = Q(status="open", kind="waiting")


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


def statuses() -> list[tuple[str, str]]:
    return choices(ReviewStatus)


def reasons() -> list[tuple[str, str]]:
    return choices(ParkReason)


def kinds() -> list[tuple[str, str]]:
    return choices(ReviewKind)


def risks() -> list[tuple[str, str]]:
    return choices(Risk)


class ReviewQuerySet(models.QuerySet["Review"]):
    def visible_to(self, user: Any) -> ReviewQuerySet:
        """Those of runs the person may see and decide on."""
        if user.has_perm("runs.view_all_runs"):
            return self
        if not user.has_perm("reviews.decide_review"):
            return self.none()
        return self.filter(agent__in=Agent.objects.ids_decided_by(user))

    def open(self) -> ReviewQuerySet:
        """Those for which a run waits."""
        return self.undecided().filter(kind=ReviewKind.WAITING.value)

    def to_judge(self) -> ReviewQuerySet:
        """Those that nothing waits for: was it good or bad?"""
        return self.undecided().filter(kind=ReviewKind.AFTERWARDS.value)

    def undecided(self) -> ReviewQuerySet:
        return self.filter(status=ReviewStatus.OPEN.value)

    def close(self, status: ReviewStatus, at: datetime) -> int:
        """How many are closed now, under a new version, and held by nobody.

        The one door, with `reopen`, by which an item's status changes: a conditional
        UPDATE of those that this queryset says are still as they were seen.
        """
        return self.update(
            status=status.value,
            closed_at=at,
            version=F("version") + 1,
            holder=None,
            holder_until=None,
        )

    def reopen(self, **fields: Any) -> int:
        """How many are open again, under a new version."""
        return self.update(
            status=ReviewStatus.OPEN.value,
            closed_at=None,
            version=F("version") + 1,
            **fields,
        )


class Review(models.Model):
    """One question to a person, sealed to what it was asked about.

    `proposal` is the call as it would run: {"tool", "arguments", "call_id", "key",
    "effect", "occurrence"}, or {}. `seal` maps what must not change until it runs to
    a digest. `version` grows with each change that a decision must have seen.
    `agent` is the run's, so that who may see what needs no join. `tool` names the
    call's tool, "" for none; `shape` is one digest for look-alikes.
    The inbox is ordered by `rank_at`, the time at which the item counts as due once
    what is at `stakes` ([{"label", "points"}], see `reviews.ranking`) is weighed in.
    From `expires_at` on nobody may decide any more; None means never.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, models.PROTECT, related_name="reviews")
    agent = models.ForeignKey(
        Agent, models.PROTECT, related_name="reviews", db_index=False
    )
    kind = models.CharField(max_length=20, choices=kinds, default=ReviewKind.WAITING)
    step_number = models.PositiveIntegerField()
    sequence = models.PositiveIntegerField()
    reason = models.CharField(max_length=30, choices=reasons)
    title = models.CharField(max_length=300)
    question = models.TextField()
    detail = models.JSONField(default=dict)
    proposal = models.JSONField(default=dict)
    tool = models.CharField(max_length=100, blank=True)
    shape = models.CharField(max_length=64, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    seal = models.JSONField(default=dict)
    risk = models.CharField(max_length=10, choices=risks, default=Risk.MEDIUM)
    version = models.PositiveIntegerField(default=1)
    status = models.CharField(
        max_length=20, choices=statuses, default=ReviewStatus.OPEN
    )
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="held_reviews",
    )
    holder_until = models.DateTimeField(null=True)
    search_text = models.TextField(blank=True)
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    rank_at = models.DateTimeField()
    stakes = models.JSONField(default=list)
    expires_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    objects = ReviewQuerySet.as_manager()

    class Meta:
        ordering = ["rank_at"]
        permissions = [("decide_review", "Can decide on parked runs")]
        indexes = [
            # the inbox: what is open, by rank; which of it is due soon; how much it is
            models.Index(fields=["rank_at"], condition=WAITS, name="review_open_rank"),
            models.Index(fields=["due_at"], condition=WAITS, name="review_open_due"),
            models.Index(fields=["agent"], condition=WAITS, name="review_open_agent"),
            # look-alikes that wait
            models.Index(fields=["shape"], condition=WAITS, name="review_open_shape"),
            # what is to be judged afterwards
            models.Index(
                fields=["rank_at"],
                condition=Q(status="open", kind="afterwards"),
                name="review_to_judge",
            ),
            # what nobody answers in time, and what nobody has answered
            models.Index(
                fields=["expires_at"],
                condition=Q(status="open", expires_at__isnull=False),
                name="review_expiring",
            ),
            models.Index(
                fields=["run"], condition=Q(status="expired"), name="review_expired"
            ),
            # looking back, and like cases
            models.Index(fields=["-closed_at"], name="review_closed"),
            models.Index(
                fields=["tool", "reason", "-closed_at"], name="review_like_cases"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["run"],
                condition=Q(status="open", kind="waiting"),
                name="one_open_review_per_run",
            ),
            models.UniqueConstraint(
                fields=["run", "step_number"],
                condition=Q(kind="afterwards"),
                name="one_afterwards_per_step",
            ),
            models.CheckConstraint(
                condition=Q(status="open") ^ Q(closed_at__isnull=False),
                name="closed_review_has_time",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def is_held(self, now: datetime) -> bool:
        """Does somebody hold it, whoever that is?"""
        until = self.holder_until
        return self.holder_id is not None and until is not None and until > now

    @property
    def waits_unanswered(self) -> bool:
        """It has expired, and its run waits with it still."""
        is_parked = self.run.state == RunState.AWAITING_HUMAN.value
        is_here = is_parked and self.run.sequence == self.sequence
        return is_here and self.status == ReviewStatus.EXPIRED.value
