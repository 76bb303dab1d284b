"""Threads that wait for models and tools, so that the driver's loop need not.

They are started when needed and never joined: a process that must go does not wait
for a call that hangs. They touch none of our tables; a tool that uses the ORM gets
a connection of its own, closed after the call.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from django.db import connections

from runs.work import Outcome, Work

# A thousand waiting threads then take 70 MB, not what the system gives by default.
STACK_BYTES = 512 * 1024
BATCH = 64

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Done:
    """What came of `work`; `outcome` is None if it raised, which it never should."""

    work: Work
    outcome: Outcome | None


class Pool:
    """At most `size` pieces of work at once. Used by one thread, the loop's."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._waiting: SimpleQueue[Work | None] = SimpleQueue()
        self._done: SimpleQueue[Done] = SimpleQueue()
        self._threads = 0
        self._in_flight = 0

    @property
    def free(self) -> int:
        return self.size - self._in_flight

    def submit(self, work: Work) -> None:
        """Hand it to a thread; it comes back through `take`."""
        self._in_flight += 1
        if self._in_flight > self._threads:
            self._start_thread()
        self._waiting.put(work)

    def take(self, timeout: float) -> list[Done]:
        """What is done, up to a batch, after waiting `timeout` s for the first."""
        taken: list[Done] = []
        with suppress(Empty):
            taken.append(self._done.get(timeout=timeout))
            while len(taken) < BATCH:
                taken.append(self._done.get_nowait())
        self._in_flight -= len(taken)
        return taken

    def close(self) -> None:
        """Let the threads end as they become free."""
        for _ in range(self._threads):
            self._waiting.put(None)

    def _start_thread(self) -> None:
        before = threading.stack_size(STACK_BYTES)
        try:
            name = f"io-{self._threads}"
            threading.Thread(target=self._serve, name=name, daemon=True).start()
        finally:
            threading.stack_size(before)
        self._threads += 1

    def _serve(self) -> None:
        while (work := self._waiting.get()) is not None:
            self._done.put(Done(work, _perform(work)))


def _perform(work: Work) -> Outcome | None:
    try:
        return work.perform()
    except BaseException:  # a thread that ended without a word would not be missed
        logger.exception("a step raised instead of returning its outcome")
        return None
    finally:
        for connection in connections.all(initialized_only=True):
            connection.close()
