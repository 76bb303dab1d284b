"""Tests of reviews."""

from __future__ import annotations
