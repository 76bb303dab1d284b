"""An agent as admins edit it, and the immutable versions that runs freeze."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from agentops.conf import product
from agentops.prepared import Prepared

_SHARE = [MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(1))]


def any_object() -> dict[str, Any]:
    """The input schema of an agent without a form of its own."""
    return {"type": "object", "properties": {}}


def default_threshold() -> Decimal:
    """What the installation asks of confidence, unless the agent says otherwise."""
    return Decimal(str(product().confidence_threshold))


class AgentQuerySet(models.QuerySet["Agent"]):
    def decided_by(self, user: Any) -> AgentQuerySet:
        """Those on whose runs the person, an operator or its key, may decide."""
        theirs = self.filter(deciders__user=user).values("pk")
        return self.filter(Q(deciders=None) | Q(pk__in=theirs))

    def ids_decided_by(self, user: Any) -> Sequence[int]:
        """The same, for an `__in`; one query.

        A page asks several times: who comes with a request remembers the answer in
        `user.remembered`, a dict.
        """
        remembered: dict[str, Sequence[int]] = getattr(user, "remembered", {})
        if "agents" not in remembered:
            remembered["agents"] = [key for (key,) in _DECIDED.rows(user.pk)]
        return remembered["agents"]


def _decided(user_id: int) -> models.QuerySet[Any, Any]:
    return Agent.objects.order_by().decided_by(user_id).values_list("pk")


_DECIDED = Prepared(_decided)


class Agent(models.Model):
    """What an agent is now. `runs.agents.publish` makes a version of each change."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=100)
    description = models.TextField(blank=True)
    enabled = models.BooleanField(default=True)

    prompt = models.TextField(help_text="The system prompt.")
    model = models.CharField(max_length=200, blank=True, help_text="Empty: the default")
    check_model = models.CharField(max_length=200, blank=True)
    max_output_tokens = models.PositiveIntegerField(default=2000)
    context_window = models.PositiveIntegerField(default=128_000)
    plan_first = models.BooleanField(default=True)
    grants = models.JSONField(
        default=dict,
        help_text='Tools it may call: {"send_email": {"policy": "ask_below", '
        '"threshold": 0.8}}. Policies: blocked, auto, ask_below, always.',
    )
    threshold = models.DecimalField(
        max_digits=4, decimal_places=3, default=default_threshold, validators=_SHARE
    )
    review_when = models.JSONField(
        default=list, blank=True, help_text="Rules in words, a list of texts."
    )
    check_answer = models.BooleanField(
        default=False, help_text="Check the final answer too."
    )
    limits = models.JSONField(
        default=dict,
        blank=True,
        help_text='Budgets: {"steps": 25, "seconds": 600, "money": "0.50", '
        '"tokens": 200000}. A missing one takes the default, null is none.',
    )
    input_schema = models.JSONField(default=any_object, blank=True)
    task_template = models.TextField(
        blank=True, help_text="The task, with {fields} of the form."
    )

    deciders = models.ManyToManyField(
        Group, blank=True, help_text="Who decides. Empty: every operator."
    )
    allow_self_decision = models.BooleanField(
        default=False, help_text="The submitter may decide their own runs."
    )
    submitter_answers = models.BooleanField(
        default=False, help_text="The submitter may answer its questions."
    )
    afterwards_below = models.DecimalField(
        max_digits=4,
        decimal_places=3,
        null=True,
        blank=True,
        validators=_SHARE,
        help_text="A call that went ahead with less confidence is listed, to be judged "
        "good or bad. Empty: the installation's number. 0: none.",
    )
    has_reviewer = models.BooleanField(
        default=True, help_text="Off: what would park ends as an error."
    )
    updated_at = models.DateTimeField(auto_now=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class AgentVersion(models.Model):
    """A numbered snapshot of an agent; a trigger refuses changes to it."""

    agent = models.ForeignKey(Agent, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    config = models.JSONField()
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["agent", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "number"], name="one_version_per_number"
            )
        ]

    def __str__(self) -> str:
        return f"{self.agent.name}, version {self.number}"
