"""`manage.py smoke`: the acceptance story on this installation, as one JSON line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from reviews import children, smoke
from reviews.smoke import Failed

STOP_S = 20.0


class Command(BaseCommand):
    help = (
        "Submits the sample task, approves it as an operator, and says whether one "
        "mail was kept (in files; nothing is ever sent). Exit code 0 only if so."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--timeout", type=float, default=120.0, help="seconds in all"
        )

    def handle(self, *args: Any, timeout: float, **options: Any) -> None:
        worker = None
        try:
            worker = smoke.worker_if_none()
            if worker is not None:
                self.stderr.write("No worker runs: starting one for this test.")
                worker.start()
            story = smoke.Story(timeout)
            result, problem = story.tell()
        except Failed as error:
            raise CommandError(str(error)) from None
        except DatabaseError as error:
            line = str(error).splitlines()[0]
            raise CommandError(f"The database cannot be used: {line}") from None
        finally:
            if worker is not None:
                children.stop([worker], within_s=STOP_S)
        self.stdout.write(json.dumps(result))
        if problem:
            raise CommandError(problem)
