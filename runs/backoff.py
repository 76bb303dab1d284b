"""How long to wait before the next try: the one place with chance in it."""

from __future__ import annotations

from math import isnan
from random import SystemRandom  # noqa: TID251 - the jitter the rule speaks of

from agentops.conf import product
from runs.classify import backoff

LONGEST_S = 86_400.0

_chance = SystemRandom()


def seconds(attempt: int, retry_after: float | None) -> float:
    """Seconds after failed try number `attempt` (from 1), see `classify.backoff`.

    More than a day is not waited for, whoever asks for it.
    """
    numbers = product()
    asked = None if retry_after is None or isnan(retry_after) else retry_after
    return backoff(
        attempt,
        base=numbers.backoff_base_s,
        cap=numbers.backoff_cap_s,
        retry_after=None if asked is None else min(asked, LONGEST_S),
        rng=_chance,
    )
