"""Measurements; not part of the suite."""

from __future__ import annotations
