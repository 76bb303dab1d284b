"""Wait for something to become true, with a deadline; never sleep and hope."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

PAUSE_S = 0.05
HANGS_S = 20.0
"""How long what hangs in a test does so at most."""


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


@contextmanager
def cut_short() -> Iterator[None]:
    """Asserts that the block does not wait for what hangs for `HANGS_S`, or longer.

    A half of it may pass, on however busy a machine: this measures no speed.
    """
    began = time.monotonic()
    yield
    took_s = time.monotonic() - began
    assert took_s < HANGS_S / 2, f"it took {took_s:.1f} s"
