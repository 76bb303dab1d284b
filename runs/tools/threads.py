"""Calls in threads that can be left alone: whoever waits stops waiting in time.

Threads are used again, since starting one costs more than most calls. One that was
left alone comes back when its call ends. They are daemons: nobody waits for them
when the program ends.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

MOST_IDLE = 32

_idle: deque[_Worker] = deque()
os.register_at_fork(after_in_child=_idle.clear)


class LeftAlone(Exception):
    """The call did not end in time; it goes on by itself."""


def call_within(seconds: float, call: Callable[[], Any]) -> Any:
    """The call's result, or what it raised.

    Raises `LeftAlone` when it does not end in time, and RuntimeError when there can
    be no more threads (nothing was called then). Context variables are those of the
    caller.
    """
    act = _Act(call)
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.inbox.put(act)
    if not act.ended.acquire(timeout=seconds):
        raise LeftAlone
    if act.error is not None:
        raise act.error
    return act.result


class _Act:
    """A call on its way: the lock is free once it has ended."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.context = contextvars.copy_context()
        self.ended = threading.Lock()
        self.ended.acquire()
        self.result: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self.context.run(self.call)
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            self.error = error


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="tool", daemon=True)
        self.inbox: SimpleQueue[_Act] = SimpleQueue()

    def run(self) -> None:
        stays = True
        while stays:
            act = self.inbox.get()
            act.run()
            stays = len(_idle) < MOST_IDLE
            if stays:
                # Before the caller wakes up, so that its next call finds us.
                _idle.append(self)
            act.ended.release()
            del act
