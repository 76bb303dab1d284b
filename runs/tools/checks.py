"""System checks of the tools: what is wrong with them is told at the start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as Caution
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from runs.tools import registry


def check_names(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """Every module that may hold tools can be imported, and names are unique."""
    try:
        registry.discover()
    except ImproperlyConfigured as error:
        yield Error(str(error), hint="Rename one of them.", id="runs.E001")


def check_mail_finders(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    finders: dict[str, str] = getattr(settings, "AGENTOPS_MAIL_FINDERS", {})
    for backend, path in finders.items():
        try:
            import_string(path)
        except ImportError as error:
            yield Error(
                f"AGENTOPS_MAIL_FINDERS has no function for {backend}: {error}",
                hint="It takes a key and counts the mails that have it.",
                id="runs.E002",
            )


def check_read_database(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """The agents' database is not the product's own; a call would be refused."""
    name = getattr(settings, "AGENTOPS_TOOL_DATABASE_URL", "")
    if name and name in {"default", getattr(settings, "DATABASE_URL", "")}:
        yield Caution(
            "query_database is to read the product's own database, which it refuses.",
            hint="Agents would see everybody's runs and the hashes of passwords: name"
            " another one in AGENTOPS_TOOL_DATABASE_URL.",
            id="runs.W001",
        )
