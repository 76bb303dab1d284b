"""The project as a Django app, so that its system checks are registered."""

from __future__ import annotations

from django.apps import AppConfig


class AgentopsConfig(AppConfig):
    name = "agentops"
    verbose_name = "agentops"

    def ready(self) -> None:
        from agentops import checks, sessions  # noqa: F401  (checks and signals)
