"""The queue's door: tasks named by their dotted path, sent through django-q2.

The broker keeps them in our database, so a task is enqueued in the caller's
transaction: a rollback takes it back, a commit hands it out.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import Any

from django import db
from django_q.brokers.orm import ORM
from django_q.models import Failure, OrmQ, Schedule
from django_q.tasks import async_task

from agentops import clock
from agentops.conf import product

DRIVE = "runs.tasks.drive"
DRIVE_ALONE = "runs.tasks.drive_alone"
SWEEP = "runs.tasks.sweep"

KEEP_FAILURES = timedelta(days=1)
PAUSE_WITHOUT_DATABASE_S = 1.0

logger = logging.getLogger(__name__)


def enqueue(name: str, *args: Any, timeout: int | None = None) -> None:
    """Send the task at this dotted path, in the caller's transaction.

    It runs at least once. `timeout` is in seconds, by default the queue's own.
    """
    options = {} if timeout is None else {"timeout": timeout}
    async_task(name, *args, task_name=name.rpartition(".")[2], q_options=options)


def wake() -> None:
    """Have a driver look for due runs, once this transaction is committed."""
    enqueue(DRIVE, timeout=product().drive_timeout_s)


def wake_alone() -> None:
    """Have a suspect run alone."""
    enqueue(DRIVE_ALONE, timeout=product().drive_timeout_s)


def install_sweep() -> None:
    """See to it that the sweep is sent once a minute. May be called again."""
    with db.transaction.atomic():
        found = Schedule.objects.select_for_update().filter(name="sweep")
        if not found.update(func=SWEEP, schedule_type=Schedule.MINUTES, minutes=1):
            Schedule.objects.create(
                name="sweep",
                func=SWEEP,
                schedule_type=Schedule.MINUTES,
                minutes=1,
                next_run=clock.now(),
            )


def prune() -> None:
    """Drop what was kept of failed tasks once it is a day old."""
    Failure.objects.filter(stopped__lt=clock.now() - KEEP_FAILURES).delete()


def length() -> int:
    """Tasks that are enqueued or running."""
    return int(OrmQ.objects.count())


class Broker(ORM):  # type: ignore[misc]  # django-q2 has no types
    """django-q2's own broker, which outlives a restart of the database.

    What asks for tasks then comes back after a second instead of dying; what was
    done but could not be acknowledged is handed out again, and our tasks bear that.
    """

    def dequeue(self) -> list[tuple[int, str]] | None:
        try:
            return super().dequeue()  # type: ignore[no-any-return]
        except (db.OperationalError, db.InterfaceError) as error:
            logger.warning("the database does not answer: %s", _first_line(error))
            db.connections.close_all()
            time.sleep(PAUSE_WITHOUT_DATABASE_S)
            return None

    def acknowledge(self, task_id: int) -> None:
        try:
            super().acknowledge(task_id)
        except (db.OperationalError, db.InterfaceError) as error:
            logger.warning("a task is not acknowledged: %s", _first_line(error))
            db.connections.close_all()


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
