"""A row for every registered tool, so that an admin finds each of them."""

from __future__ import annotations

from typing import Any

from runs.models import Tool
from runs.tools import registry


def sync_tools(**_: Any) -> int:
    """Make the rows that are missing; returns how many. Called after migrating.

    Rows of tools that no longer exist stay: they say what an admin once decided.
    """
    known = set(Tool.objects.values_list("name", flat=True))
    missing = [spec.name for spec in registry.all_specs() if spec.name not in known]
    rows = [Tool(name=name) for name in missing]
    Tool.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
