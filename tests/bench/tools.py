"""The tool that benched runs call; found as the tools of any installed app are."""

from __future__ import annotations

from runs.tools.base import Effect, tool


@tool(effect=Effect.READ, keeps_deadline=True)
def lookup(key: str) -> dict[str, object]:
    """Look one record up by its key and return what is stored under it.

    It answers at once and so keeps its deadline by itself.
    """
    return {"key": key, "value": f"ledger value of {key}", "found": True}
