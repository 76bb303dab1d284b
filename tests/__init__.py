"""The tests, laid out like the code they test."""

from __future__ import annotations
