"""The project: settings, addresses, the clock and what every app shares."""

from __future__ import annotations
