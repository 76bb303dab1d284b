"""Tests of runs.llm."""

from __future__ import annotations
