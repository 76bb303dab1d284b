"""Large texts that many rows repeat, stored once by digest."""

from __future__ import annotations

from django.db import models


class Blob(models.Model):
    """JSON by the digest of its canonical form; never changed."""

    digest = models.CharField(primary_key=True, max_length=64)
    content = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.digest[:12]
