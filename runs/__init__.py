"""Runs: agents, tools, steps, the engine and the driver."""

from __future__ import annotations
