"""Tests of where values come from."""

from __future__ import annotations
