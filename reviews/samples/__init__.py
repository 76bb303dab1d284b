"""The sample agents and the database they read; `manage.py demo` installs both."""

from __future__ import annotations

from reviews.samples.agents import AGENTS
from reviews.samples.installation import install
from reviews.samples.tables import TABLES, Table, make

__all__ = ["AGENTS", "TABLES", "Table", "install", "make"]
