"""Tests of runs.llm.demo."""

from __future__ import annotations
