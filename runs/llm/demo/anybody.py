"""Plays agents it does not know: a plan, one reading call that is obvious, and a
plain word that this is the demo model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from runs.canonical import Json
from runs.llm.demo.player import Player, one_line, quoted_notes
from runs.llm.demo.talk import Talk, Turn

ACTS = re.compile(
    r"^(?:send|post|write|create|update|delete|remove|pay|refund|book|cancel|set|put"
    r"|mail|run|ask|escalate)(?:_|$)"
)
_SUM = re.compile(r"(?<![\w.-])[\d(][\d\s.+*/()%-]*[+*/-][\d\s.+*/()%-]*[\d)]")
_SELECT = re.compile(r"\bSELECT\b.+", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(r"[\"“']([^\"”']{1,200})[\"”']")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?")

WHO = (
    "This is the demo model: it plays the sample agents and does not understand other"
    " tasks. Set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL) to use a real one."
)


def plan(task: str) -> Sequence[str]:
    return (f"Answer as far as a demo model can: {one_line(task)[:80]}",)


def turn(talk: Talk) -> Turn:
    if not talk.calls:
        call = _obvious(talk)
        if call is not None:
            return Turn(f"I will call {call[0]}.", [(*call, 1)])
    found = "".join(
        f"\n\n`{call.name}` answered:\n\n```\n{call.result[:2000]}\n```"
        for call in talk.calls
    )
    return Turn(WHO + found + quoted_notes(talk))


def _obvious(talk: Talk) -> tuple[str, Mapping[str, Json]] | None:
    task = talk.task
    if talk.has("calculate") and (found := _SUM.search(task)):
        return "calculate", {"expression": found[0].strip()}
    if talk.has("query_database") and (found := _SELECT.search(task)):
        return "query_database", {"sql": found[0].strip().rstrip(".")}
    for name, schema in talk.tools.items():
        arguments = _fill(schema, task) if _is_named(name, task) else None
        if arguments is not None and not ACTS.match(name):
            return name, arguments
    return None


def _is_named(name: str, task: str) -> bool:
    """Whether the task has each word of the tool's name, in whatever form."""
    words = re.findall(r"[a-z]+", task.lower())
    parts = [part for part in name.lower().split("_") if part]
    return all(any(word.startswith(part[:5]) for word in words) for part in parts)


def _fill(schema: Mapping[str, Json], task: str) -> dict[str, Json] | None:
    """The required arguments, from what the task has in quotes and in digits."""
    texts, numbers = iter(_QUOTED.findall(task)), iter(_NUMBER.findall(task))
    properties = schema.get("properties", {})
    filled: dict[str, Json] = {}
    for name in schema.get("required", ()):
        value = _value(properties.get(name, {}), texts, numbers)
        if value is None:
            return None
        filled[name] = value
    return filled


def _value(
    schema: Mapping[str, Json], texts: Iterator[str], numbers: Iterator[str]
) -> Json:
    if schema.get("enum"):
        return schema["enum"][0]
    match schema.get("type"):
        case "string":
            return next(texts, None)
        case "integer":
            found = next(numbers, None)
            return None if found is None else int(float(found))
        case "number":
            found = next(numbers, None)
            return None if found is None else float(found)
        case "boolean":
            return False
    return None


PLAYER = Player("", plan, turn)
