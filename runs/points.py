"""Named points of the step protocol, at which a crash test dies.

Every function that writes is wrapped by `write`: it has a point before it, one
right before its commit would return, and one after. Acts in the world have points
of their own (`reach`). Nothing happens at a point unless `AGENTOPS_CRASH_AT` names
it, as `<point>` or `<point>#<n>` for the n-th time it is reached.
"""

from __future__ import annotations

import functools
import os
import signal
from collections import Counter
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

WRITES: list[str] = []
_reached: Counter[str] = Counter()
_at, _, _count = os.environ.get("AGENTOPS_CRASH_AT", "").partition("#")


def reach(point: str) -> None:
    """Die by SIGKILL if this is where the test wants it."""
    if point != _at:
        return
    _reached[point] += 1
    if _reached[point] == int(_count or 1):
        os.kill(os.getpid(), signal.SIGKILL)


def write(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function as one write of the step protocol (one commit)."""
    WRITES.append(name)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            reach(f"before {name}")
            result = function(*args, **kwargs)
            reach(f"after {name}")
            return result

        return wrapped

    return decorate


def points_of(name: str) -> list[str]:
    return [f"before {name}", f"inside {name}", f"after {name}"]
