"""Model clients: what is asked of a model, and the endpoints that answer it."""

from __future__ import annotations

from runs.llm.registry import before_forking, get_client, using

__all__ = ["before_forking", "get_client", "using"]
