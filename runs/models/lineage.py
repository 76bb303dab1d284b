"""One row that tells a database from an older copy of it."""

from __future__ import annotations

import uuid

from django.db import models


class Lineage(models.Model):
    """The one history that this database has lived through; see `runs.lineage`.

    `mark` only grows. `overtaken_at` is when a worker found that it had once seen more.
    """

    name = models.UUIDField(default=uuid.uuid4)
    mark = models.BigIntegerField(default=0)
    overtaken_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return str(self.name)
