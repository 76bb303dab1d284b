"""The tasks that the queue runs: drive, drive a suspect alone, and sweep.

Each bears to be sent once too often and answers in plain JSON: what cannot be
pickled would be run again for ever.
"""

from __future__ import annotations

import logging
import os
import time

from runs import engine, health, leases, queue, slots, timers
from runs.driver import NEAR_S, Driver
from runs.flag import draining
from runs.lone import LoneDriver

NO_DRIVER = {"slot": "none"}
# So that a driver which always fails does not fail all the time.
PAUSE_BEFORE_EXIT_S = 1.0

logger = logging.getLogger(__name__)


def drive() -> dict[str, str | int]:
    """Advance due runs in a slot of this host; if none is free, nothing to do."""
    return _drive(Driver, slots.of_drivers())


def drive_alone() -> dict[str, str | int]:
    """Advance suspects by a step each, one at a time."""
    return _drive(LoneDriver, slots.of_suspects())


def sweep() -> dict[str, str | int]:
    """The last net, once a minute: what should long have happened, happens now."""
    woken = 0
    if leases.is_near(NEAR_S) and not health.driver_beats():
        queue.wake()
        woken = 1
    sent = timers.Poll()()
    leases.prune()
    queue.prune()
    return {"woken": woken, "timers": len(sent)}


def _drive(kind: type[Driver], numbers: range) -> dict[str, str | int]:
    slot = None if draining.is_set() else slots.take_first(numbers)
    if slot is None:
        return dict(NO_DRIVER)
    try:
        driver = kind(engine, slot)
    except BaseException:
        slot.free()
        raise
    try:
        done = driver.drive()
    except Exception:
        logger.exception("the driver failed, its process ends")
        _end_process()
        raise
    if driver.gave_up:
        _end_process()
    return done


def _end_process() -> None:
    """Acts may still be in flight: only the end of the process proves them over."""
    time.sleep(PAUSE_BEFORE_EXIT_S)
    os._exit(os.EX_SOFTWARE)
