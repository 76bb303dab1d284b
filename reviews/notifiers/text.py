"""A message as lines of text, escaped for where they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from reviews.models.review import Risk
from reviews.notifiers.message import Message

Escape = Callable[[str], str]

_LEVELS = {Risk.HIGH.value: "failure", Risk.MEDIUM.value: "warning"}
_MARKDOWN = re.compile(r"([\\`*_\[\](){}#~|!])")
_ANGLES = str.maketrans({"<": "\u2039", ">": "\u203a"})


def plain(text: str) -> str:
    return text


def markdown(text: str) -> str:
    """No emphasis, no link, no mention: tags become quotation marks that look alike."""
    return _MARKDOWN.sub(r"\\\1", text.translate(_ANGLES))


def level(said: Message) -> str:
    """In the words of apprise."""
    if said.closes:
        return "success"
    return _LEVELS.get(said.risk, "info")


def lines(said: Message, escape: Escape = plain) -> list[str]:
    """All but the title; the links are not escaped, they are ours."""
    body = _listed(said, escape) if said.items else _told(said, escape)
    end = [escape(said.after)] if said.after else []
    return [*body, f"{said.does}: {said.link}", *end]


def _told(said: Message, escape: Escape) -> Iterator[str]:
    if said.agent:
        yield escape(f"{said.agent}, asked for by {said.submitter}")
    yield escape(f"Why: {said.why}")
    if said.due_at:
        due = f"{said.due_at:%-d %b %Y, %H:%M %Z}"
        yield escape(f"Risk: {said.risk}. Due: {due}.")
    if said.last_error:
        yield escape(f"Last error: {said.last_error}")
    if said.calls:
        calls = ", ".join(f"{call.name} ({call.outcome})" for call in said.calls)
        yield escape(f"Last tool calls: {calls}")


def _listed(said: Message, escape: Escape) -> Iterator[str]:
    for item in said.listed:
        yield f"{escape(item.subject)} {item.link}"
    if said.more:
        yield f"and {said.more} more"
