"""Model clients: what is asked of a model, and the endpoints that answer it."""

from __future__ import annotations

from runs.llm.registry import get_client, using

__all__ = ["get_client", "using"]
