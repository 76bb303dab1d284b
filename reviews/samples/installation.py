"""Putting the samples in place, once."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from reviews.samples.agents import AGENTS, LIMITS
from reviews.samples.tables import TABLES, Table, make
from runs.agents import publish
from runs.models import Agent

FILE = "samples.sqlite3"


def install(
    folder: Path | None = None, tables: Mapping[str, Table] = TABLES
) -> list[Agent]:
    """The sample agents, published, and their database; safe to call again.

    Agents and tables that exist stay as people have made them. The database is
    AGENTOPS_TOOL_DATABASE_URL, or else a SQLite file in `folder` (VAR_DIR), which
    then is named in the agents' grants. Writes rows in one transaction, after the
    tables were made.
    """
    url = settings.AGENTOPS_TOOL_DATABASE_URL
    own = "" if url else f"sqlite:///{(folder or settings.VAR_DIR) / FILE}"
    make(url or own, tables)
    with transaction.atomic():
        return [_agent(data, own) for data in AGENTS]


def _agent(data: Mapping[str, Any], database: str) -> Agent:
    fields = {**copy.deepcopy(dict(data)), "limits": dict(LIMITS)}
    if database:
        fields["grants"]["query_database"]["settings"] = {"database": database}
    slug = fields.pop("slug")
    agent, is_new = Agent.objects.get_or_create(slug=slug, defaults=fields)
    if is_new:
        publish(agent, by=None)
    return agent
