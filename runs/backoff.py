"""How long to wait before the next try: the one place with chance in it."""

from __future__ import annotations

from random import SystemRandom  # noqa: TID251 - the jitter the rule speaks of

from agentops.conf import product
from runs.classify import backoff

_chance = SystemRandom()


def seconds(attempt: int, retry_after: float | None) -> float:
    """Seconds after failed try number `attempt` (from 1), see `classify.backoff`."""
    numbers = product()
    return backoff(
        attempt,
        base=numbers.backoff_base_s,
        cap=numbers.backoff_cap_s,
        retry_after=retry_after,
        rng=_chance,
    )
