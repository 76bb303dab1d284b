"""Tests that look at pages in a real browser."""

from __future__ import annotations
