"""The ledger of what irreversible calls did outside."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from runs.models.run import Run
from runs.states import EffectStatus, choices


def statuses() -> list[tuple[str, str]]:
    return choices(EffectStatus)


class Effect(models.Model):
    """One call that may act at most once, found by its idempotency key.

    `owner` is the lease owner that started it, see `Driver`.
    """

    key = models.CharField(primary_key=True, max_length=64)
    root = models.ForeignKey(Run, models.PROTECT, related_name="effects")
    run = models.ForeignKey(
        Run, models.PROTECT, related_name="own_effects", db_index=False
    )
    step_number = models.PositiveIntegerField()
    tool = models.CharField(max_length=100)
    arguments_digest = models.CharField(max_length=64)
    occurrence = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=20, choices=statuses)
    result = models.JSONField(null=True)
    owner = models.CharField(max_length=100)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["started_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=[status.value for status in EffectStatus]),
                name="effect_status_known",
            )
        ]

    def __str__(self) -> str:
        return f"{self.tool} {self.key[:8]}"
