"""The driver's heartbeat: a thread and a connection of its own.

So a lease does not depend on how busy the loop is, nor on how long a call takes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

from agentops import clock
from agentops.conf import product
from runs import leases

PAUSE_AFTER_FAILURE_S = 1.0

logger = logging.getLogger(__name__)


class Heart(threading.Thread):
    """Extends all leases of `owner` until it is stopped; `held` counts its runs."""

    def __init__(self, owner: str, held: Callable[[], int]) -> None:
        super().__init__(name="heart", daemon=True)
        self._owner = owner
        self._held = held
        self._stopped = threading.Event()

    def run(self) -> None:
        pause = product().heartbeat_s
        while not self._stopped.wait(pause):
            pause = self._beat()
        connection.close()

    def stop(self) -> None:
        self._stopped.set()

    def _beat(self) -> float:
        """Seconds until the next one."""
        try:
            clock.sync(connection)
            leases.beat(self._owner)
            leases.stamp(self._owner, self._held())
        except (OperationalError, InterfaceError) as error:
            logger.warning("no heartbeat, the database does not answer: %s", error)
            connection.close()
            return PAUSE_AFTER_FAILURE_S
        except Exception:
            logger.exception("no heartbeat")
            return PAUSE_AFTER_FAILURE_S
        return product().heartbeat_s
