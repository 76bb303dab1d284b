"""What the templates use: words for figures, icons, moments."""

from __future__ import annotations
