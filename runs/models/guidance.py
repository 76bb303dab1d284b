"""Words of people that an agent is given at the start of every later run."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from runs.models.agent import Agent
from runs.models.run import Run


class Guidance(models.Model):
    """Kept guidance, for one agent or for all agents that may use one tool.

    A run freezes the texts in force when it starts (`Run.guidance`); `runs` are those
    that did. From `expires_at` on, or with `enabled` off, it is given to no new run.
    """

    agent = models.ForeignKey(
        Agent, models.CASCADE, null=True, blank=True, related_name="guidance"
    )
    tool = models.CharField(max_length=100, blank=True)
    text = models.TextField()
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+"
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    runs = models.ManyToManyField(Run, editable=False, related_name="guided_by")

    class Meta:
        ordering = ["created_at"]
        verbose_name_plural = "guidance"
        constraints = [
            models.CheckConstraint(
                condition=Q(agent__isnull=False) ^ ~Q(tool=""),
                name="guidance_has_one_scope",
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]
