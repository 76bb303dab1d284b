"""What admins decide about a tool and about a model's price."""

from __future__ import annotations

from decimal import Decimal

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models


def policies() -> list[tuple[str, str]]:
    return [
        ("auto", "run by itself"),
        ("ask_below", "ask below the threshold"),
        ("always", "always ask"),
        ("blocked", "blocked"),
    ]


class Tool(models.Model):
    """A registered tool; live: a run meets the values of the moment.

    The stricter of this policy and the agent's grant holds. Empty numbers take the
    tool's own default, then the product's.
    """

    name = models.CharField(primary_key=True, max_length=100)
    enabled = models.BooleanField(default=True)
    policy = models.CharField(
        max_length=20, choices=policies, blank=True, help_text="Empty: as granted."
    )
    threshold = models.DecimalField(
        max_digits=4,
        decimal_places=3,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(1))],
    )
    timeout_s = models.FloatField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(null=True, blank=True)
    result_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="Bytes of a result the model gets."
    )
    untrusted = models.BooleanField(
        null=True, blank=True, help_text="Are its results untrusted content?"
    )
    undo_s = models.FloatField(
        "undo window",
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Seconds in which an approval can be taken back. Empty: 5 for what "
        "is irreversible, else none.",
    )
    due_s = models.FloatField(
        "due within",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Seconds in which its calls are to be decided. Empty: by their risk.",
    )
    expires_s = models.FloatField(
        "expires after",
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="Seconds after which nobody may decide any more. Empty: by the "
        "risk. 0: never.",
    )
    settings = models.JSONField(default=dict, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Price(models.Model):
    """What a model costs, in US dollars per million tokens; beats the list price."""

    model = models.CharField(primary_key=True, max_length=200)
    input = models.DecimalField(max_digits=12, decimal_places=6)
    cached = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Empty: the full input price.",
    )
    output = models.DecimalField(max_digits=12, decimal_places=6)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["model"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(input__gte=0, output__gte=0),
                name="price_not_negative",
            )
        ]

    def __str__(self) -> str:
        return self.model
