"""Text and JSON in one form: cleaning, strict parsing, digests, keys.

Everything that models and tools say passes `clean` (or `clean_text`) once before
it is stored; everything compared or sealed is digested from `dumps`.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Set
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias
from uuid import UUID

from runs.errors import InvalidCall

MAX_DEPTH = 64
MAX_NODES = 500_000
"""Values within one value: lists that hold each other twice grow without end."""
MAX_BITS = 4096
"""Of an integer; neither Python nor a database gladly takes more digits than that."""
MAX_DIGITS = 1233
"""As many as `MAX_BITS` always hold."""
MAX_ARGUMENTS = 100_000
"""Characters of one call's arguments: they are sent back with every later request."""
QUOTE = 500

Json: TypeAlias = Any
"""None, bool, int, float, str, list and dict with text keys."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: str) -> str:
    """The text as both databases can store it.

    NUL becomes the visible U+2400, a lone surrogate U+FFFD.
    """
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSTORABLE.sub(lambda m: "\u2400" if m[0] == "\x00" else "\ufffd", text)


def clean(value: Any) -> Json:
    """Any Python value as JSON that both databases store.

    Decimal and UUID become text, times ISO text, bytes base64 text with a mark,
    sets sorted lists, NaN and infinities None. What is deeper than `MAX_DEPTH` or
    more than `MAX_NODES` values is cut.
    """
    return _clean(value, 0, itertools.count())


def _clean(value: Any, depth: int, nodes: Iterator[int]) -> Json:
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= MAX_BITS else "… too many digits"
    if isinstance(value, float):
        return _clean_number(value)
    cut = _too_much(depth, nodes)
    return cut or _clean_other(value, depth + 1, nodes)


def _too_much(depth: int, nodes: Iterator[int]) -> str:
    if depth >= MAX_DEPTH:
        return "… nested too deep"
    return "… too much to keep" if next(nodes) >= MAX_NODES else ""


def _clean_number(value: float) -> Json:
    """As jsonb gives it back: whole numbers so large that they have an exponent
    come back as integers, there is no -0.0, and a digest must not change on the way."""
    if not abs(value) < float("inf"):
        return None
    return int(value) if abs(value) >= 1e16 else value + 0.0


def _clean_other(value: Any, depth: int, nodes: Iterator[int]) -> Json:
    if isinstance(value, Mapping):
        return {clean_text(str(k)): _clean(v, depth, nodes) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, depth, nodes) for item in value]
    if isinstance(value, Set):
        return sorted((_clean(item, depth, nodes) for item in value), key=str)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes | bytearray | memoryview):
        return "base64:" + base64.b64encode(bytes(value)).decode()
    return _clean_object(value, depth, nodes)


def _clean_object(value: Any, depth: int, nodes: Iterator[int]) -> Json:
    if isinstance(value, Enum):
        return _clean(value.value, depth, nodes)
    if isinstance(value, Decimal | UUID):
        return str(value)
    if hasattr(value, "model_dump"):
        return _clean(value.model_dump(), depth, nodes)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _clean(dataclasses.asdict(value), depth, nodes)
    return clean_text(str(value))


_canonical = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def dumps(value: Json) -> str:
    """Canonical JSON: sorted keys, no blanks, no NaN."""
    return _canonical.encode(value)


def digest(value: Json) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(dumps(value).encode()).hexdigest()


def chain(previous: str, text: str) -> str:
    """The digest of a growing list without walking it again; `text` from `dumps`."""
    return hashlib.sha256((previous + text).encode()).hexdigest()


def size(text: str) -> int:
    """Bytes of the text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def idempotency_key(
    root_run: str, tool: str, arguments: Mapping[str, Json], occurrence: int
) -> str:
    """The key under which a call has its effect at most once.

    The same in every try of a step and in every fork of a run; does not depend on
    ids made by the model's provider.
    """
    return digest([root_run, tool, dict(arguments), occurrence])


def shorten(text: str, limit: int = QUOTE) -> str:
    """At most `limit` characters, with a mark where something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def loads(text: str) -> Json:
    """Strict JSON; what it returns `clean` changes no more than its text.

    Raises ValueError for NaN, a name given twice in one object, and for depth,
    digits and sizes beyond measure.
    """
    try:
        value = _strict.decode(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
    if _depth(value) > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    return value


def parse_arguments(tool: str, raw: Json) -> dict[str, Json]:
    """A model's arguments as an object, cleaned.

    Takes text, an object, or nothing (which is `{}`). Raises `InvalidCall` that
    names the tool, what is wrong and where, quoting at most `QUOTE` characters.
    """
    if isinstance(raw, str) and len(raw) > MAX_ARGUMENTS:
        raise InvalidCall(
            f"The arguments of {tool} are too long: {len(raw):,} characters, at most"
            f" {MAX_ARGUMENTS:,} are taken. They began: {shorten(raw)}"
        )
    value = _parsed(tool, raw) if isinstance(raw, str) else raw
    if value is None and not isinstance(raw, str):
        return {}
    if not isinstance(value, dict):
        raise InvalidCall(
            f"The arguments of {tool} are not a JSON object but"
            f" {_kind(value)}: {shorten(str(raw))}"
        )
    return clean_object(value)


def clean_object(value: Mapping[str, Any]) -> dict[str, Json]:
    """`clean` of a mapping, typed as what it is."""
    nodes = itertools.count()
    return {clean_text(str(k)): _clean(v, 1, nodes) for k, v in value.items()}


def _parsed(tool: str, raw: str) -> Json:
    if not raw.strip():
        return {}
    try:
        return loads(raw)
    except ValueError as error:
        raise InvalidCall(
            f"The arguments of {tool} are not valid JSON ({error}): {shorten(raw)}"
        ) from None


def _kind(value: Json) -> str:
    names = {list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _refuse(token: str) -> Json:
    raise ValueError(f"{token} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not abs(value) < float("inf"):
        raise ValueError(f"{shorten(digits, 40)} is beyond measure")
    return value


def _whole(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise ValueError(f"{shorten(digits, 40)} has too many digits")
    return int(digits)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Whoever wrote a name twice meant one of two things, and nobody knows which."""
    value = dict(pairs)
    if len({clean_text(name) for name in value}) < len(pairs):
        names = [clean_text(name) for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{shorten(twice, 40)!r} is given twice")
    return value


_strict = json.JSONDecoder(
    parse_constant=_refuse,
    parse_float=_finite,
    parse_int=_whole,
    object_pairs_hook=_once,
)


def _depth(value: Json) -> int:
    deepest, todo = 0, [(value, 1)]
    while todo:
        item, depth = todo.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, depth)
            children = item.values() if isinstance(item, dict) else item
            todo.extend((child, depth + 1) for child in children)
            if depth > MAX_DEPTH:
                break
    return deepest
