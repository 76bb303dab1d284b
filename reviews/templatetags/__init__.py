"""What the templates ask about reviews."""

from __future__ import annotations
