"""The outbox: one row per message to be sent."""

from __future__ import annotations

from enum import StrEnum

from django.conf import settings
from django.db import models
from django.db.models import Q

from reviews.models.review import Review
from runs.models import Run
from runs.states import choices


class NotificationStatus(StrEnum):
    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


def statuses() -> list[tuple[str, str]]:
    return choices(NotificationStatus)


class Notification(models.Model):
    """Written in the transaction that causes it, delivered afterwards.

    `channel` is a notifier's name, `address` an e-mail address or the number of the
    person's route (`reviews.routing`). `next_at` is when to
    try (again); `failed` means no further try, which admins see; `dropped` that there was
    nothing left to tell.
    """

    review = models.ForeignKey(
        Review, models.CASCADE, null=True, related_name="notifications"
    )
    run = models.ForeignKey(Run, models.CASCADE, related_name="notifications")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+"
    )
    event = models.CharField(max_length=30)
    channel = models.CharField(max_length=30)
    address = models.CharField(max_length=500)
    status = models.CharField(
        max_length=20, choices=statuses, default=NotificationStatus.PENDING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField()
    next_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["created_at"]
        indexes = [
            # the outbox is read by what is due
            models.Index(
                fields=["next_at"],
                condition=Q(status="pending"),
                name="notification_due",
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["review", "event", "channel", "address"],
                name="one_notification_per_event",
            )
        ]

    def __str__(self) -> str:
        return f"{self.event} by {self.channel} to {self.person}"
