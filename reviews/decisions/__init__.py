"""The kinds of decisions: one file each, found by `registry`."""

from __future__ import annotations
