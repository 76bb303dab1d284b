"""`manage.py restored`: after a backup was restored, before the worker starts."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.restored import mark_all
from runs import health

PAUSE_S = 1.0
SILENCE_S = 20.0


class Command(BaseCommand):
    help = (
        "After a backup was restored and before the worker starts: lets every run that "
        "was under way ask a person before it does anything that cannot be undone. "
        "Safe to repeat."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self._wait_for_silence()
        found = mark_all()
        self.stdout.write(
            f"Runs under way when the backup was taken: {found.runs}."
            " Their irreversible calls ask a person from now on."
        )
        self.stdout.write(
            f"With a call that may have been made since: {found.in_doubt}."
        )

    def _wait_for_silence(self) -> None:
        """The backup's own workers beat until it was taken; a living one goes on."""
        until = time.monotonic() + SILENCE_S
        while health.worker_beats():
            if time.monotonic() > until:
                raise CommandError("A worker runs on this database. Stop it first.")
            time.sleep(PAUSE_S)
