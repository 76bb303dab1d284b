"""Tests of agentops."""

from __future__ import annotations
