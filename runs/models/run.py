"""A run: where it stands, what it has used, who holds it."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.lookups import Exact, In, IsNull

from runs.models.agent import Agent, AgentVersion
from runs.states import FINAL, ParkReason, RunState, choices


def states() -> list[tuple[str, str]]:
    return choices(RunState)


def park_reasons() -> list[tuple[str, str]]:
    return choices(ParkReason)


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: Any) -> RunQuerySet:
        """Admins all, operators those of agents they may decide on, others theirs."""
        if user.has_perm("runs.view_all_runs"):
            return self
        own = Q(submitter=user)
        if user.has_perm("reviews.decide_review"):
            own |= Q(agent__in=Agent.objects.ids_decided_by(user))
        return self.filter(own)


class Run(models.Model):
    """One task given to one agent.

    Written only by `runs.recording` and `runs.services`. `sequence` is the number
    of the newest step. `wake_at` is set while there is something to do; `state` and
    the counters stay out of every index, so that a step's update is heap-only; and
    PostgreSQL reads every check of a table anew at every write, so there are few.
    `outcome` is the final state, "" before, and `had_error` that a step failed or that
    it is an error: unlike `state` they may be in an index, as most steps leave them be.
    `restored_at` is when a backup was restored in which the run was under way.
    A fork has the steps of `forked_from` before `fork_step`, and shares its root.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    root = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="forks", db_index=False
    )
    forked_from = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="copies", db_index=False
    )
    fork_step = models.IntegerField(null=True)
    agent = models.ForeignKey(
        Agent, models.PROTECT, related_name="runs", db_index=False
    )
    version = models.ForeignKey(
        AgentVersion, models.PROTECT, related_name="runs", db_index=False
    )
    submitter = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="runs", db_index=False
    )
    submit_key = models.CharField(max_length=64, null=True)  # noqa: DJ001 - unique
    task = models.TextField()
    inputs = models.JSONField(default=dict)
    guidance = models.JSONField(default=list)
    system_digest = models.CharField(max_length=64)
    tools_digest = models.CharField(max_length=64)
    limits = models.JSONField(default=dict)

    state = models.CharField(max_length=20, choices=states, default=RunState.IDLE)
    sequence = models.IntegerField(default=0)
    plan = models.JSONField(default=list)
    plan_revision = models.IntegerField(default=0)

    steps_used = models.IntegerField(default=0)
    active_ms = models.BigIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    cost = models.DecimalField(max_digits=20, decimal_places=10, default=Decimal(0))
    is_estimated = models.BooleanField(default=False)

    wake_at = models.DateTimeField(null=True)
    lease_owner = models.CharField(max_length=100, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    claims = models.IntegerField(default=0)
    claims_alone = models.IntegerField(default=0)

    park_reason = models.CharField(max_length=30, choices=park_reasons, blank=True)
    park = models.JSONField(null=True)
    parked_at = models.DateTimeField(null=True)
    waited_ms = models.BigIntegerField(default=0)

    output = models.TextField(blank=True)
    error = models.TextField(blank=True)
    outcome = models.CharField(max_length=20, blank=True)
    had_error = models.BooleanField(default=False)
    search_text = models.TextField(blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    restored_at = models.DateTimeField(null=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        permissions = [
            ("submit_run", "Can submit tasks"),
            ("view_all_runs", "Can see every run"),
        ]
        indexes = [
            # leases.claim: what is due, oldest first
            models.Index(
                fields=["wake_at"], condition=Q(wake_at__isnull=False), name="run_due"
            ),
            # reviews' sweep: parked runs without a review
            models.Index(
                fields=["parked_at"],
                condition=Q(parked_at__isnull=False),
                name="run_parked",
            ),
            # lists of what has ended so, of what is at work, of what met an error
            models.Index(
                fields=["outcome", "-created_at"],
                condition=~Q(outcome=""),
                name="run_of_outcome",
            ),
            models.Index(
                fields=["-created_at"],
                condition=Q(finished_at=None, parked_at=None),
                name="run_at_work",
            ),
            models.Index(
                fields=["-created_at"],
                condition=Q(had_error=True),
                name="run_with_error",
            ),
            # the list of all runs, one agent's, and one person's
            models.Index(fields=["agent", "-created_at"], name="run_of_agent"),
            models.Index(fields=["-created_at"], name="run_newest"),
            models.Index(fields=["submitter", "-created_at"], name="run_of_submitter"),
            # the forks of a run; most have none, and none ever changes its original
            models.Index(
                fields=["forked_from"],
                condition=Q(forked_from__isnull=False),
                name="run_forks",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["submitter", "submit_key"], name="one_run_per_submission"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in RunState]),
                name="run_state_known",
            ),
            models.CheckConstraint(
                condition=Exact(
                    IsNull(F("parked_at"), False),
                    Exact(F("state"), Value(RunState.AWAITING_HUMAN.value)),
                ),
                name="parked_run_has_time",
            ),
            models.CheckConstraint(
                condition=Exact(
                    IsNull(F("finished_at"), False),
                    In(F("state"), sorted(state.value for state in FINAL)),
                ),
                name="final_run_has_time",
            ),
            models.CheckConstraint(
                condition=Q(cost__gte=0), name="run_cost_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"run {str(self.id)[:8]}"

    @property
    def root_key(self) -> str:
        """The id that idempotency keys are made from: of the first of all forks."""
        return str(self.root_id or self.id)


class Driver(models.Model):
    """A driver's sign of life; `ended_at` set means it is known to be dead.

    `owner` is the lease owner's name, never used twice. The next driver of the same
    slot, which holds the slot's file lock, ends the one before.
    """

    owner = models.CharField(primary_key=True, max_length=100)
    host = models.CharField(max_length=100)
    slot = models.PositiveSmallIntegerField()
    pid = models.PositiveIntegerField()
    held = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            # readiness and the banner: does any driver beat?
            models.Index(
                fields=["beat_at"], condition=Q(ended_at=None), name="driver_beating"
            )
        ]

    def __str__(self) -> str:
        return self.owner
