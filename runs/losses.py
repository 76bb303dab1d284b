"""The database that goes away: what tells of it, bearing it, and whether it is back."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from math import inf

from django.db import InterfaceError, OperationalError, connection

DATABASE_LOST = (OperationalError, InterfaceError)
LONGEST_PAUSE_S = 2.0

logger = logging.getLogger(__name__)


class Patience:
    """Waits a moment for a database that is away, longer each time."""

    def __init__(self) -> None:
        self._losses = 0
        self._lost_at = -inf

    def bear(self, act: Callable[[], None]) -> bool:
        """Do it; False, after a pause, if the database was away."""
        try:
            act()
        except DATABASE_LOST as error:
            logger.warning("the database does not answer: %s", str(error).strip())
            connection.close()
            time.sleep(min(0.1 * 2**self._losses, LONGEST_PAUSE_S))
            self._losses = min(self._losses + 1, 10)
            self._lost_at = time.monotonic()
            return False
        self._losses = 0
        return True

    def rested_s(self) -> float:
        """For how long it has not been away."""
        return time.monotonic() - self._lost_at


def takes_writes(write: Callable[[], object]) -> bool:
    """Connect anew and write this. A database that is away refuses it, and one whose
    disk is full, which still answers. Ends what this connection had begun."""
    try:
        connection.close()
        write()
    except DATABASE_LOST:
        return False
    return True
