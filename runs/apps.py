"""The app that owns runs and everything they are made of."""

from __future__ import annotations

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"
    verbose_name = "Runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.core.checks import register
        from django.db.models.signals import post_migrate

        from runs.tool_rows import sync_tools
        from runs.tools.checks import (
            check_mail_finders,
            check_names,
            check_read_database,
        )

        for check in (check_names, check_mail_finders, check_read_database):
            register(check)
        post_migrate.connect(sync_tools, sender=self)
