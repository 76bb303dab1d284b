"""Random histories of runs, against a simple model of what may happen."""

from __future__ import annotations
