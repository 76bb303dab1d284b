"""What an edit changed, line by line, for people to read before and after. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from runs.canonical import Json

CONTEXT = 1
"""Lines shown around a change, so that it can be found again."""


@dataclass(frozen=True)
class Line:
    """One line; `tag` is del, ins, or "" for what stayed."""

    tag: str
    text: str


@dataclass(frozen=True)
class Change:
    """One argument that is not what it was."""

    label: str
    lines: tuple[Line, ...]


def between(was: Mapping[str, Json], now: Mapping[str, Json]) -> list[Change]:
    """In the order of the original; new arguments come last."""
    names = [*was, *(name for name in now if name not in was)]
    return [
        Change(_label(name), tuple(_lines(*_texts(was, now, name))))
        for name in names
        if name not in was or name not in now or was[name] != now[name]
    ]


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _texts(
    was: Mapping[str, Json], now: Mapping[str, Json], name: str
) -> tuple[list[str], list[str]]:
    """Both as lines; as JSON where they only look alike: line ends, another type."""
    old, new = _text(was, name).splitlines(), _text(now, name).splitlines()
    if old == new:
        return [json.dumps(was.get(name))], [json.dumps(now.get(name))]
    return old, new


def _text(arguments: Mapping[str, Json], name: str) -> str:
    """A text as it is; everything else as JSON; nothing at all in words."""
    if name not in arguments:
        return "not given"
    value = arguments[name]
    if isinstance(value, str):
        return value or "empty"
    return json.dumps(value, indent=2, ensure_ascii=False)


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (Line("", line) for line in old[a:b])
                continue
            yield from (Line("del", line) for line in old[a:b])
            yield from (Line("ins", line) for line in new[c:d])
