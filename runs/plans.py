"""A plan as a person changes it: finished items stay, the others are lines. Pure.

An item is {"text", "status": open, done or dropped, "reason"}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runs.canonical import Json
from runs.errors import BadInput

MAX_ITEMS = 50
MAX_LENGTH = 500

Item = Mapping[str, Any]


def finished(plan: Sequence[Item]) -> list[dict[str, Json]]:
    """What is done or dropped, in order."""
    return [dict(item) for item in plan if item["status"] != "open"]


def left(plan: Sequence[Item]) -> list[str]:
    """The texts of what is open, each on one line, in order."""
    texts = (str(item["text"]) for item in plan if item["status"] == "open")
    return [" ".join(text.split()) for text in texts]


def changed(plan: Sequence[Item], lines: Iterable[str]) -> list[dict[str, Json]]:
    """The finished items, then one open item a line; blank lines do not count.

    Raises `BadInput` with field items if that is no plan, or no change.
    """
    texts = [" ".join(line.split()) for line in lines if line.strip()]
    items = finished(plan)
    items += [{"text": text, "status": "open", "reason": ""} for text in texts]
    if problem := _problem(plan, items, texts):
        raise BadInput({"items": problem})
    return items


def _problem(plan: Sequence[Item], items: Sequence[Item], texts: list[str]) -> str:
    if not items:
        return "A plan needs at least one item."
    if len(items) > MAX_ITEMS:
        return f"A plan has at most {MAX_ITEMS} items; these are {len(items)}."
    for number, text in enumerate(texts, start=1):
        if len(text) > MAX_LENGTH:
            return f"Line {number} has {len(text)} characters, at most {MAX_LENGTH} go."
    return "Nothing has changed yet." if texts == left(plan) else ""


def as_lines(plan: Sequence[Item]) -> str:
    """Numbered lines, with what is finished marked so."""
    return "\n".join(
        f"{number}. {item['text']}"
        + ("" if item["status"] == "open" else f" ({item['status']})")
        for number, item in enumerate(plan, start=1)
    )
