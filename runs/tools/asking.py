"""What a tool's own code is asked besides its calls, in bounded time.

Whether arguments fit, what effect a call has, whether settings allow it, what it is in
words: asked by whoever advances everybody's runs, or shows a page.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import inf
from typing import TypeVar, cast

from pydantic import ValidationError

from runs.classify import named, told
from runs.errors import Fatal, InvalidCall, StepError
from runs.tools.threads import Crowded, LeftAlone, NotBegun, call_within

logger = logging.getLogger(__name__)

ANSWER_S = 5.0
HASTE_S = 1.0
"""For a tool that let us wait in vain in the last `LATELY_S`: long enough for a healthy
answer on a host that is busy, since a late one parks the run."""
LATELY_S = 600.0

T = TypeVar("T")

_hung_at: dict[str, float] = {}


class Ended(Fatal):
    """The tool raised what ends programs or threads, so an act may be half done."""


def said(name: str, what: str, answer: Callable[[], T]) -> T:
    """The answer of the tool of that name; `what` is what it could not do, in words.

    Raises `InvalidCall` and ValidationError as the tool does. Any other mistake in it
    is `Fatal`, since no model can answer for it, and so is an answer that does not
    come in time. While one answer is awaited in vain, no other is asked for.
    """
    try:
        return _in_time(name, answer)
    except (InvalidCall, ValidationError):
        raise
    except Exception as error:
        logger.warning("%s could not %s", name, what, exc_info=error)
        words = error.args[0] if isinstance(error, StepError) else named(error)
        raise Fatal(told(f"{name} could not {what}: {words}")) from error


def _in_time(name: str, answer: Callable[[], T]) -> T:
    lately = time.monotonic() - _hung_at.get(name, -inf) < LATELY_S
    patience = HASTE_S if lately else ANSWER_S
    try:
        found = call_within(
            patience,
            lambda: without_ending(name, answer),
            owner=f"{name} itself",
            most_left=1,
            interrupts=True,
        )
    except LeftAlone as late:
        if not isinstance(late, NotBegun):  # the host was busy, not the tool
            _hung_at[name] = time.monotonic()
        raise Fatal(f"no answer within {patience:g} s") from None
    except Crowded:
        raise Fatal("an earlier answer has not come yet") from None
    return cast("T", found)


def without_ending(name: str, call: Callable[[], T]) -> T:
    """What the tool's code gives; raises `Ended` for what would end the program."""
    try:
        return call()
    except Exception:
        raise
    except BaseException as error:
        kind = type(error).__name__
        raise Ended(f"{name} tried to end the program ({kind}).") from error
