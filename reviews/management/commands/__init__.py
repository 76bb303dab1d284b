"""Commands that need both runs and reviews."""

from __future__ import annotations
