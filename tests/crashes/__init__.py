"""Processes die: what goes on, and what is left behind."""

from __future__ import annotations
