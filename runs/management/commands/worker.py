"""`manage.py worker`: advances runs until it is told to stop."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

# Loaded before the fork: once for all, and a new worker is ready at once.
import runs.tasks  # noqa: F401
from runs.worker import Worker


class Command(BaseCommand):
    help = (
        "Advances runs. SIGTERM or Ctrl-C lets acts in flight end and stops within "
        "seconds; a second one stops at once."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        Worker().run()
