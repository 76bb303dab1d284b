"""Every change of a run's state: from, to, why, who, when."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from runs.models.run import Run, states


class Transition(models.Model):
    """Append-only. `by` is the person, `actor` the name people see either way."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="transitions")
    from_state = models.CharField(max_length=20, choices=states)
    to_state = models.CharField(max_length=20, choices=states)
    reason = models.TextField()
    actor = models.CharField(max_length=150)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
    )
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.from_state} → {self.to_state}"
