"""The ways to tell people: one file each, found by `base`."""

from __future__ import annotations
