"""`manage.py samples`: the sample agents and their data on this installation."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from reviews.samples import install


class Command(BaseCommand):
    help = "Installs the sample agents and the database they read; safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        for agent in install():
            self.stdout.write(f"{agent.slug}: {agent.name}")
