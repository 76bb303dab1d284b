"""What a person decided about a review."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Q

from reviews.models.review import Review


class Decision(models.Model):
    """Append-only; undoing fills `undone_at`. At most one stands per review."""

    review = models.ForeignKey(Review, models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=30)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="decisions"
    )
    payload = models.JSONField(default=dict)
    note = models.TextField(blank=True)
    item_version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, blank=True)
    seconds_taken = models.PositiveIntegerField(null=True)
    decided_at = models.DateTimeField()
    effective_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-decided_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["review"],
                condition=Q(undone_at=None),
                name="one_standing_decision_per_review",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} by {self.actor}"


def after_windows(run_id: UUID, at: datetime) -> datetime:
    """`at`, or the end of the last window in which a decision on the run can be taken
    back: what that one allows may have to wait for another, and happen because of it.
    """
    standing = Decision.objects.filter(
        review__run=run_id, undone_at=None, effective_at__gt=at
    )
    last = standing.order_by("-effective_at").first()
    return last.effective_at if last else at
