"""The app that owns runs and everything they are made of."""

from __future__ import annotations

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"
    verbose_name = "Runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.db.models.signals import post_migrate

        from runs.tool_rows import sync_tools

        post_migrate.connect(sync_tools, sender=self)
