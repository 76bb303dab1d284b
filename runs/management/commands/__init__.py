"""Management commands of runs."""

from __future__ import annotations
