"""Backups and upgrades: what was under way goes on, or says why not."""

from __future__ import annotations
