"""django-q2's own cluster, made to survive the death of any of its processes.

    main ─► sentinel ─► workers, monitor, pusher

Four of the safeguards are here (ADR 0031 tells why each is needed): a sentinel that
ends when a lock may have died with a child, so that main starts all anew; a stop
that every process can see and no dead one can block; a watchdog for what is left;
and a new worker looks for work at once. The fifth, no orphans, is `runs.lifeline`.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from typing import Any

from django import db
from django_q import cluster as django_q
from django_q.signals import post_spawn

from runs import health, queue
from runs.flag import Flag, draining
from runs.losses import DATABASE_LOST

# A worker that ran over its time is given so long to end by itself.
TIMED_OUT_S = 2.0
# Due runs and no driver of this host: wake one; still none: start all anew.
LATE_S = 10.0
STUCK_S = 30.0


logger = logging.getLogger(__name__)


class Sentinel(django_q.Sentinel):  # type: ignore[misc]  # django-q2 has no types
    """Leaves signals to main, and ends rather than go on with a dead lock."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs, start=False)
        # Inherited by all children: main alone decides when to stop, even if the
        # whole process group gets the signal. No SIG_IGN: tools' programs inherit that.
        signal.signal(signal.SIGTERM, _leave_it_to_main)
        self.event_out = Flag()
        self.start()

    def reincarnate(self, process: Any) -> None:
        if self._may_have_held_a_lock(process):
            logger.error("process %d died, the cluster starts anew", process.pid)
            os._exit(os.EX_TEMPFAIL)
        has_timed_out = process in self.pool and process.timer.value == 0
        super().reincarnate(process)
        if has_timed_out:
            process.join(TIMED_OUT_S)
            process.kill()

    def _may_have_held_a_lock(self, process: Any) -> bool:
        """An idle process waits with its queue's lock in hand; a busy one has none."""
        if process.exitcode in (None, 0):
            return False
        return process not in self.pool or process.timer.value == -1


class Cluster(django_q.Cluster):  # type: ignore[misc]
    """Starts our sentinel, as often as needed. The caller handles signals."""

    def start(self) -> int:
        db.connections.close_all()
        self.stop_event, self.start_event = draining, Flag()
        self.sentinel = django_q.get_mp_context().Process(
            target=Sentinel,
            name="sentinel",
            args=(self.stop_event, self.start_event, self.cluster_id),
        )
        self.sentinel.start()
        return int(self.sentinel.pid)

    def sig_handler(self, signum: int, frame: Any) -> None:
        draining.set()


class Watchdog:
    """Looks from outside whether this host's drivers do what is due."""

    def __init__(self) -> None:
        self._late_since: float | None = None

    def is_stuck(self) -> bool:
        """Time to start anew? Wakes a driver first. May raise a lost connection."""
        now = time.monotonic()
        if health.queue_lag_s() < LATE_S or health.driver_beats(here=True):
            self._late_since = None
            return False
        if self._late_since is None:
            self._late_since = now
            queue.wake()
        if now - self._late_since < STUCK_S:
            return False
        self._late_since = None
        return True


def wake_on_spawn(**kwargs: Any) -> None:
    """A new worker looks for work: the one it replaces may have held many runs."""
    if draining.is_set():
        return
    try:
        queue.wake()
    except DATABASE_LOST as error:
        logger.warning("a new worker could not be woken: %s", error)


def _leave_it_to_main(signum: int, frame: Any) -> None:
    pass


post_spawn.connect(wake_on_spawn, dispatch_uid="runs.cluster")
