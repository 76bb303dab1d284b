"""A flag shared by the processes of one worker.

One byte of shared memory and no lock: a process that is killed while it sets, asks
or waits leaves nothing behind that another would wait for. It has the methods of
`multiprocessing.Event` that django-q2 uses.
"""

from __future__ import annotations

import mmap
import time

PAUSE_S = 0.05


class Flag:
    """Unset at first; shared with every process forked after it was made."""

    def __init__(self) -> None:
        self._byte = mmap.mmap(-1, 1)

    def set(self) -> None:
        self._byte[0] = 1

    def is_set(self) -> bool:
        return self._byte[0] == 1

    def wait(self, timeout: float) -> bool:
        """Is it set within so many seconds?"""
        deadline = time.monotonic() + timeout
        while not self.is_set():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(PAUSE_S, left))
        return True


draining = Flag()
"""Set once a stop was asked for: no new steps, and out within seconds."""
