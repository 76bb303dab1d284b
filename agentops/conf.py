"""The product's own numbers and switches, each with its default.

`settings.AGENTOPS` holds one `Product`, read from the environment once: the
field `lease_s` comes from `AGENTOPS_LEASE_S`, and so on. Code asks
`product().lease_s`, so that a test may put another `Product` in place.
Seconds end in `_s`, bytes in `_bytes`; money is in US dollars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, cast

from agentops import env

LEAVING_S = 60
"""What a driver may take to leave once its last call has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """Every default of the product; an agent or a run may set its own."""

    # Budgets of a run
    max_steps: int = 25
    max_active_s: float = 600.0
    max_money: Decimal = Decimal("0.50")
    max_tokens: int = 200_000

    # Transient errors: tries in all, then the wait grows from base to cap
    max_attempts: int = 5
    backoff_base_s: float = 1.0
    backoff_cap_s: float = 60.0

    # What a model may get wrong before a person is asked
    max_invalid_in_a_row: int = 3
    max_nudges: int = 1
    max_repeats: int = 3
    max_task_chars: int = 20_000

    # Deadlines of single acts, and how much of a result is kept
    model_deadline_s: float = 120.0
    tool_deadline_s: float = 30.0
    result_to_model_bytes: int = 16_000
    result_kept_bytes: int = 1_000_000

    # Confidence and context, both shares of one
    confidence_threshold: float = 0.75
    context_share: float = 0.80

    # Reviews
    review_due_s: float = 4 * 3600.0
    review_due_high_risk_s: float = 3600.0
    review_expires_s: float = 0.0
    review_expires_high_risk_s: float = 0.0
    claim_lease_s: float = 600.0
    undo_s: float = 0.0
    undo_irreversible_s: float = 5.0
    afterwards_below: float = 0.85
    allow_self_decision: bool = False

    # Notices: how long new items of a risk wait to go out together, what a message
    # may name, how long one send may take, and which inner hosts it may reach
    notify_every_high_s: float = 0.0
    notify_every_medium_s: float = 3600.0
    notify_every_low_s: float = 86_400.0
    notify_titles: bool = True
    notify_deadline_s: float = 10.0
    notify_private_hosts: str = ""

    # The driver: who holds a run, for how long, and how it stops
    lease_s: float = 15.0
    heartbeat_s: float = 4.0
    poll_s: float = 0.1
    threads: int = 1000
    drive_slice_s: float = 900.0
    drain_s: float = 5.0

    # Signing in: wrong passwords before one has to wait, and for how long
    sign_in_tries: int = 5
    sign_in_lock_s: float = 900.0

    # Staying signed in: without using it, and in all
    session_idle_s: float = 12 * 3600.0
    session_s: float = 7 * 86_400.0

    # Where people find the pages; the links in mails begin with it
    base_url: str = "http://127.0.0.1:8000"

    @property
    def drive_timeout_s(self) -> int:
        """What the queue gives a driver: its slice, then the calls in flight."""
        longest = max(self.model_deadline_s, self.tool_deadline_s)
        return int(self.drive_slice_s + longest) + LEAVING_S


SHARES = frozenset({"confidence_threshold", "context_share", "afterwards_below"})
MAY_BE_ZERO = frozenset(
    {
        "max_money",
        "max_nudges",
        "drain_s",
        "confidence_threshold",
        "review_expires_s",
        "review_expires_high_risk_s",
        "undo_s",
        "undo_irreversible_s",
        "afterwards_below",
        "notify_every_high_s",
        "notify_every_medium_s",
        "notify_every_low_s",
    }
)


def from_environment() -> Product:
    """Read every field that is set; raises `ImproperlyConfigured`."""
    defaults = Product()
    read = {
        field.name: _read(field.name, getattr(defaults, field.name))
        for field in fields(Product)
    }
    return Product(**cast("Mapping[str, Any]", read))


def product() -> Product:
    """What is in force now."""
    from django.conf import settings

    return settings.AGENTOPS


def _read(field: str, default: object) -> object:
    name = f"AGENTOPS_{field.upper()}"
    match default:
        case bool():
            return env.flag(name, default)
        case int():
            return env.integer(name, default, minimum=0 if field in MAY_BE_ZERO else 1)
        case float() if field in SHARES:
            return env.share(name, default)
        case float():
            return env.number(name, default, above_zero=field not in MAY_BE_ZERO)
        case Decimal():
            return env.money(name, default)
        case _:
            return env.text(name, str(default))
