"""Tests of runs."""

from __future__ import annotations
