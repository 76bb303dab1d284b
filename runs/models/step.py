"""The steps of a run, and the tries that failed."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import Q

from runs.models.run import Run
from runs.states import StepKind, StepStatus, choices


def kinds() -> list[tuple[str, str]]:
    return choices(StepKind)


def statuses() -> list[tuple[str, str]]:
    return choices(StepStatus)


class Step(models.Model):
    """One checkpoint. It stores what is new; earlier steps hold the rest.

    `request` and `response` depend on the kind, see `runs.conversation`. `digest`
    proves the rebuilt prompt of a model call, or seals the arguments of a tool call.
    First come the columns that never change: an update is then logged by what follows.
    """

    run = models.ForeignKey(
        Run, models.PROTECT, related_name="steps", db_index=False
    )  # the unique constraint serves every look-up by run
    number = models.IntegerField()
    kind = models.CharField(max_length=20, choices=kinds)
    state = models.CharField(max_length=20)
    name = models.CharField(max_length=200, blank=True)
    plan_item = models.SmallIntegerField(null=True)
    request = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, blank=True)
    reserved_tokens = models.IntegerField(default=0)
    reserved_cost = models.DecimalField(
        max_digits=20, decimal_places=10, default=Decimal(0)
    )
    planned_at = models.DateTimeField()

    status = models.CharField(max_length=20, choices=statuses)
    attempts = models.SmallIntegerField(default=0)
    response = models.JSONField(null=True)
    error_class = models.CharField(max_length=20, blank=True)
    error_text = models.TextField(blank=True)
    confidence = models.DecimalField(max_digits=5, decimal_places=4, null=True)
    input_tokens = models.IntegerField(default=0)
    cached_tokens = models.IntegerField(default=0)
    output_tokens = models.IntegerField(default=0)
    cost = models.DecimalField(max_digits=20, decimal_places=10, default=Decimal(0))
    is_estimated = models.BooleanField(default=False)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        indexes = [
            # checks, by a column that never changes, so that updates stay heap-only
            models.Index(
                fields=["planned_at"], condition=Q(kind="check"), name="step_checks"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "number"], name="one_step_per_number"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in StepKind]),
                name="step_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in StepStatus]),
                name="step_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"step {self.number} ({self.kind})"


class Attempt(models.Model):
    """A try of a step that failed and was to be repeated."""

    run = models.ForeignKey(
        Run, models.PROTECT, related_name="attempts", db_index=False
    )
    step_number = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField()
    error_class = models.CharField(max_length=20)
    error_text = models.TextField()
    cost = models.DecimalField(max_digits=20, decimal_places=10, default=Decimal(0))
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    retry_at = models.DateTimeField()

    class Meta:
        ordering = ["step_number", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "step_number", "number"], name="one_row_per_attempt"
            )
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of step {self.step_number}"
