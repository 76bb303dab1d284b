"""Text and JSON in one form, and the same after the way through a database."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import pytest
from pydantic import BaseModel

from runs.canonical import (
    MAX_DEPTH,
    chain,
    clean,
    clean_text,
    digest,
    dumps,
    idempotency_key,
    loads,
    parse_arguments,
    shorten,
    size,
)
from runs.errors import InvalidCall
from runs.models import Blob


class Colour(Enum):
    RED = "red\x00"


@dataclass
class Point:
    x: Decimal


class Model(BaseModel):
    at: date


class Own:
    def __str__(self) -> str:
        return "own\x00"


@pytest.mark.parametrize(
    ("value", "cleaned"),
    [
        ("a\x00b\ud800", "a␀b\ufffd"),
        (float("nan"), None),
        (float("-inf"), None),
        (-0.0, 0.0),
        (1e20, 10**20),
        pytest.param(10**5000, "… too many digits", id="10**5000"),
        (True, True),
        (Decimal("1.10"), "1.10"),
        (UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
        (b"\xff", "base64:/w=="),
        ({3, 1, 2}, [1, 2, 3]),
        ((1, "\x00"), [1, "␀"]),
        ({"k\x00": {1: None}}, {"k␀": {"1": None}}),
        (Colour.RED, "red␀"),
        (Point(Decimal(2)), {"x": "2"}),
        (Model(at=date(2026, 1, 2)), {"at": "2026-01-02"}),
        (Own(), "own␀"),
    ],
)
def test_any_value_becomes_json_that_can_be_stored(value, cleaned):
    found = clean(value)

    assert found == cleaned
    assert str(found) == str(cleaned)
    json.loads(dumps(found))


def test_what_is_nested_without_end_is_cut():
    deep: list[object] = []
    deep.append(deep)

    assert "nested too deep" in dumps(clean(deep))


def test_plain_text_is_left_as_it_is():
    text = "é and 漢"

    assert clean_text(text) == text
    assert (size(text), size("ab")) == (len(text.encode()), 2)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "-Infinity", "1e999", "-1e999"])
def test_numbers_beyond_measure_are_no_json(text):
    with pytest.raises(ValueError, match=r"not JSON|beyond measure"):
        loads(text)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "1" * 5000, "{", "'a'", ""], ids=[1, 2, 3, 4, 5]
)
def test_what_cannot_be_read_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"."):
        loads(text)


def test_depth_is_allowed_up_to_its_limit():
    most, more = (("[" * n) + ("]" * n) for n in (MAX_DEPTH, MAX_DEPTH + 1))

    assert loads(most)
    with pytest.raises(ValueError, match="deeper than 64"):
        loads(more)


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (None, {}),
        ("", {}),
        ("  ", {}),
        ('{"a": 1}', {"a": 1}),
        ({"a\x00": float("nan")}, {"a␀": None}),
    ],
)
def test_arguments_are_an_object(raw, read):
    assert parse_arguments("echo", raw) == read


@pytest.mark.parametrize("raw", ["[1]", "null", "1.5", '"a"', "true", 7, [1], "{" * 9])
def test_other_arguments_are_an_invalid_call_that_names_the_tool(raw):
    with pytest.raises(InvalidCall, match="echo"):
        parse_arguments("echo", raw)


def test_a_key_depends_on_root_tool_arguments_and_occurrence_alone():
    key = idempotency_key("r", "post", {"a": 1, "b": 2}, 1)

    assert key == idempotency_key("r", "post", {"b": 2, "a": 1}, 1)
    assert len(key) == 64
    others = [("s", "post", 1), ("r", "send", 1), ("r", "post", 2)]
    for root, tool, occurrence in others:
        assert idempotency_key(root, tool, {"a": 1, "b": 2}, occurrence) != key


def test_a_chain_tells_order():
    assert chain(chain("", "a"), "b") != chain(chain("", "b"), "a")


def test_what_is_cut_shows_it():
    assert shorten("abcdef", 4) == "abc…"
    assert shorten("abcd", 4) == "abcd"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "value",
    [
        {"b": 1, "a": [1.0, 0.1, -0.0, 1e-7, 1e15, 1e16, 1.5e300, 5e-324]},
        {"digits": 10**300, "less": -(10**20), "float": 123456789.123456789},
        {"text": "a\x00 \ud800 é 漢 \u2028 \\u0000", "": None, "t": True},
        {"z": {"y": {"x": []}}, "aa": {}, "B": 2},
    ],
)
def test_a_digest_is_the_same_after_the_way_through_the_database(value):
    cleaned = clean(value)
    Blob.objects.create(digest="x", content=cleaned)

    read = Blob.objects.get(digest="x").content

    assert digest(read) == digest(cleaned)


def test_lists_that_hold_each_other_again_and_again_are_cut():
    grown: list[object] = []
    for _ in range(40):
        grown = [grown, grown]

    assert "… too much to keep" in dumps(clean(grown))
