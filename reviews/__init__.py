"""Reviews: what waits for a person, and what people decided."""

from __future__ import annotations
