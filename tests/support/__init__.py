"""What tests share: settings, databases, people, a live project, a browser."""

from __future__ import annotations
