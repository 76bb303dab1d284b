"""An app with a tool that kills the process it runs in."""

from __future__ import annotations
