"""Tests of the notifiers."""

from __future__ import annotations
