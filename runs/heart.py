"""The driver's heartbeat: a thread and a connection of its own.

So a lease does not depend on how busy the loop is, nor on how long a call takes. A
loop that does not turn at all must not keep its leases: then the process ends.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from django.db import connection

from agentops import clock
from agentops.conf import product
from runs import leases
from runs.losses import DATABASE_LOST

PAUSE_AFTER_FAILURE_S = 1.0
# No statement waits so long, whatever the load.
STALLED_S = 120.0

logger = logging.getLogger(__name__)


class Heart(threading.Thread):
    """Extends all leases of `owner` until it is stopped; `held` counts its runs."""

    def __init__(self, owner: str, held: Callable[[], int]) -> None:
        super().__init__(name="heart", daemon=True)
        self._owner = owner
        self._held = held
        self._turned_at = time.monotonic()
        self._stopped = threading.Event()

    def run(self) -> None:
        pause = product().heartbeat_s
        while not self._stopped.wait(pause):
            if time.monotonic() - self._turned_at > STALLED_S:
                _end_process()
            pause = self._beat()
        connection.close()

    def turned(self) -> None:
        """The loop says that it goes round."""
        self._turned_at = time.monotonic()

    def stop(self) -> None:
        self._stopped.set()

    def _beat(self) -> float:
        """Seconds until the next one."""
        try:
            clock.sync(connection)
            leases.beat(self._owner)
            leases.stamp(self._owner, self._held())
        except DATABASE_LOST as error:
            logger.warning("no heartbeat, the database does not answer: %s", error)
            connection.close()
            return PAUSE_AFTER_FAILURE_S
        except Exception:
            logger.exception("no heartbeat")
            return PAUSE_AFTER_FAILURE_S
        return product().heartbeat_s


def _end_process() -> None:
    logger.critical("the driver's loop stands still: its process ends")
    os._exit(os.EX_SOFTWARE)
