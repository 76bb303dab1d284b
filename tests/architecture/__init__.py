"""Rules about the code itself."""

from __future__ import annotations
