"""Wait for something to become true, with a deadline; never sleep and hope."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PAUSE_S = 0.05


def wait_until(
    condition: Callable[[], T],
    *,
    timeout_s: float = 10.0,
    what: str = "",
    pause_s: float = PAUSE_S,
) -> T:
    """Ask until the answer is truthy and return it; `AssertionError` when late."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            name = what or getattr(condition, "__name__", "the condition")
            raise AssertionError(f"{name} did not come true within {timeout_s:g} s")
        time.sleep(pause_s)
