"""Many at once: who wins, and what never happens twice."""

from __future__ import annotations
