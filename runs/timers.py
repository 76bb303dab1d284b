"""Times that other parts wait for: when one has come, its task is sent.

    timers.register("reviews.tasks.deliver", outbox.has_due)

A driver asks once a second and the sweep once a minute, so no such time depends on
the queue's own schedules. Tasks bear to be sent too often: `is_due` stays true until
the task has run, and several drivers ask.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from runs import queue
from runs.losses import DATABASE_LOST

# How long a task that was sent has for making its timer false again.
QUIET_S = 5.0

logger = logging.getLogger(__name__)

_timers: dict[str, Callable[[], bool]] = {}


def register(task: str, is_due: Callable[[], bool]) -> None:
    """Send the task at this dotted path whenever `is_due` says so.

    `is_due` is asked in the driver's loop: one quick query and nothing else.
    """
    _timers[task] = is_due


def seldom(is_due: Callable[[], bool], every_s: float) -> Callable[[], bool]:
    """Asks `is_due` at most once in `every_s` seconds; in between nothing is due."""
    next_at = 0.0

    def asked() -> bool:
        nonlocal next_at
        if time.monotonic() < next_at:
            return False
        next_at = time.monotonic() + every_s
        return is_due()

    return asked


class Poll:
    """One asker's view: what it sent lately is not sent again."""

    def __init__(self) -> None:
        self._sent_at: dict[str, float] = {}

    def __call__(self) -> list[str]:
        """Send what is due; returns the tasks sent. Raises only lost connections."""
        sent = [task for task in _timers if self._may_send(task) and _is_due(task)]
        for task in sent:
            queue.enqueue(task)
            self._sent_at[task] = time.monotonic()
        return sent

    def _may_send(self, task: str) -> bool:
        sent_at = self._sent_at.get(task)
        return sent_at is None or time.monotonic() - sent_at >= QUIET_S


def _is_due(task: str) -> bool:
    try:
        return _timers[task]()
    except DATABASE_LOST:
        raise
    except Exception:
        logger.exception("the timer of %s cannot tell whether it is due", task)
        return False
