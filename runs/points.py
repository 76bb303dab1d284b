"""Named points of the step protocol, at which a crash test dies.

Every function that writes is wrapped by `write`, which puts a point before and one
after it; where it takes several statements, one is inside, right before the commit.
Acts in the world have points of their own (`reach`). Nothing happens at a point unless `AGENTOPS_CRASH_AT` names
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

_reached: Counter[str] = Counter()
_at, _nth = "", 1


def arm(spec: str) -> None:
    """Die at this point: `<point>` or `<point>#<n>`; "" is nowhere."""
    global _at, _nth
    _at, _, count = spec.partition("#")
    _nth = int(count or 1)
    _reached.clear()


def reach(point: str) -> None:
    """Die by SIGKILL if this is where the test wants it."""
    if point != _at:
        return
    _reached[point] += 1
    if _reached[point] == _nth:
        os.kill(os.getpid(), signal.SIGKILL)


def write(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function as one write of the step protocol (one commit)."""
    before, after = around(name)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            reach(before)
            result = function(*args, **kwargs)
            reach(after)
            return result

        return wrapped

    return decorate


def around(name: str) -> tuple[str, str]:
    """The two points that every write has; those inside are `reach`ed by name."""
    return f"before {name}", f"after {name}"


arm(os.environ.get("AGENTOPS_CRASH_AT", ""))
