"""The main process of `manage.py worker`: starts the cluster, watches it, stops it.

It stays single-threaded, since it forks, and does little: a sign of life every few
seconds, a new cluster when one has died, and the stop.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from multiprocessing.connection import wait
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import Error, connection

from agentops import clock
from agentops.conf import product
from runs import health, leases, lifeline, lineage, llm, queue, slots
from runs.cluster import Cluster, Watchdog
from runs.flag import draining
from runs.losses import DATABASE_LOST

RETRY_S = 2.0
PLACE_S = 3.0
# A cluster that ended sooner than this did not really start.
SHORT_LIFE_S = 3.0
LONGEST_PAUSE_S = 30.0
# Irreversible acts are waited for to their deadline, and for no longer than this.
STOP_S = 180.0

logger = logging.getLogger(__name__)


class Worker:
    """One worker of this host; `run` returns when it has stopped."""

    def __init__(self) -> None:
        self._cluster = Cluster()
        self._watchdog = Watchdog()
        self._signals, self._signalled = os.pipe()
        self._said = ""
        self._pauses = 0
        self._started_at = 0.0
        self._owner = ""
        self._at_once = False
        self._is_overtaken = False

    def run(self) -> None:
        """Raises `CommandError` if another worker has this folder."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        place = self._take_place()
        if place is None or not self._wait_for_database():
            return
        try:
            self._begin()
            while not draining.is_set():
                self._watch()
            self._stop()
        finally:
            self._kill()
            self._end()
            place.free()
        if self._at_once:
            raise SystemExit(1)

    # Beginning

    def _take_place(self) -> slots.Slot | None:
        """Slot 0; a worker that was killed a moment ago may still hold it."""
        deadline = time.monotonic() + PLACE_S
        while not draining.is_set():
            place = slots.take(slots.MAIN)
            if place:
                return place
            if time.monotonic() > deadline:
                raise CommandError(
                    f"Another worker runs with {settings.VAR_DIR}. Stop it first, or "
                    "give this one a folder of its own (AGENTOPS_VAR)."
                )
            self._pause(RETRY_S / 10)
        return None

    def _wait_for_database(self) -> bool:
        """Until it answers and is migrated; False if a stop was asked for."""
        while not draining.is_set():
            trouble = _trouble_with_database()
            if not trouble:
                return True
            self._say_once(f"{trouble}; trying again every {RETRY_S:g} s")
            self._pause(RETRY_S)
        return False

    def _begin(self) -> None:
        queue.install_sweep()
        self._owner = leases.begin(slots.MAIN)
        self._look_back()
        lifeline.tie_children()
        llm.before_forking()
        self._start_cluster()
        logger.info(
            "worker started: %d drivers of %d runs each, database %s",
            len(slots.of_drivers()),
            product().threads,
            connection.vendor,
        )

    def _start_cluster(self) -> None:
        self._started_at = time.monotonic()
        self._cluster.start()

    # While it runs

    def _watch(self) -> None:
        """Until the next sign of life, the end of the cluster or a signal."""
        self._wait(product().heartbeat_s)
        if draining.is_set():
            return
        if not self._cluster.sentinel.is_alive():
            self._start_anew()
        self._look()

    def _start_anew(self) -> None:
        code = self._cluster.sentinel.exitcode
        is_short = time.monotonic() - self._started_at < SHORT_LIFE_S
        self._pauses = self._pauses + 1 if is_short else 0
        logger.warning("the cluster ended (%s) and is started anew", code)
        if self._pauses > 1:
            self._pause(min(2.0 ** (self._pauses - 2), LONGEST_PAUSE_S))
        if not draining.is_set():
            self._start_cluster()

    def _look(self) -> None:
        try:
            clock.sync(connection)
            leases.stamp(self._owner)
            self._look_back()
            is_stuck = self._watchdog.is_stuck()
        except DATABASE_LOST as error:
            self._say_once(f"the database does not answer: {_first_line(error)}")
            connection.close()
            return
        self._said = ""
        if is_stuck:
            logger.error("runs are due and no driver is at work: all starts anew")
            self._cluster.sentinel.kill()

    def _look_back(self) -> None:
        """Tell of a database that went back, once and loudly."""
        was_told, self._is_overtaken = self._is_overtaken, lineage.beat()
        if self._is_overtaken and not was_told:
            logger.error("%s", lineage.WARNING)

    # Stopping

    def _on_signal(self, number: int, frame: Any) -> None:
        """The first one drains, the second one stops at once."""
        if draining.is_set():
            self._at_once = True
            self._kill()
        draining.set()
        os.write(self._signalled, b"!")

    def _stop(self) -> None:
        logger.info("worker stops: no new steps, acts in flight may end")
        deadline = time.monotonic() + STOP_S
        while self._cluster.sentinel.is_alive() and time.monotonic() < deadline:
            self._wait(1.0)

    def _kill(self) -> None:
        """All children of the sentinel die with it."""
        sentinel = self._cluster.sentinel
        if sentinel is not None and sentinel.is_alive():
            sentinel.kill()
            sentinel.join()

    def _end(self) -> None:
        try:
            leases.end(self._owner)
        except Error as error:
            connection.close()
            logger.warning("the end is not recorded: %s", _first_line(error))
        logger.info("worker stopped")

    # Waiting

    def _wait(self, seconds: float) -> None:
        """Until a signal comes, the cluster ends, or so many seconds have passed."""
        if self._signals in wait(
            [self._signals, self._cluster.sentinel.sentinel], seconds
        ):
            os.read(self._signals, 1)

    def _pause(self, seconds: float) -> None:
        """The same before there is a cluster, or while there is none."""
        if wait([self._signals], seconds):
            os.read(self._signals, 1)

    def _say_once(self, words: str) -> None:
        if words != self._said:
            logger.warning("%s", words)
        self._said = words


def _trouble_with_database() -> str:
    try:
        missing = health.unapplied_migrations()
    except Error as error:
        connection.close()
        return f"the database does not answer ({_first_line(error)})"
    if missing:
        return f"{len(missing)} migrations are missing (manage.py migrate)"
    return ""


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
