"""Arguments survive the way through a browser's form with their types."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.decisions.schema_fields import arguments_of

# name, schema, value, which field shows it
SHAPES = [
    ("text", {"type": "string"}, "Ana", "text"),
    ("long text", {"type": "string"}, "one\ntwo\n", "text"),
    ("windows text", {"type": "string"}, "one\r\ntwo", "text"),
    ("spaces", {"type": "string"}, "  x ", "text"),
    ("empty text", {"type": "string"}, "", "text"),
    ("whole", {"type": "integer"}, 7, "integer"),
    ("zero", {"type": "integer"}, 0, "integer"),
    ("number", {"type": "number"}, 1.5, "number"),
    ("number that is whole", {"type": "number"}, 2, "number"),
    ("yes", {"type": "boolean"}, True, "flag"),
    ("no", {"type": "boolean"}, False, "flag"),
    ("choice", {"enum": ["a", "b"], "type": "string"}, "b", "choice"),
    ("choice of numbers", {"enum": [1, 2]}, 2, "choice"),
    ("a value outside", {"enum": ["a"]}, "z", "choice"),
    ("lines", {"type": "array", "items": {"type": "string"}}, ["a", "b"], "lines"),
    ("no lines", {"type": "array", "items": {"type": "string"}}, [], "lines"),
    ("odd lines", {"type": "array", "items": {"type": "string"}}, ["a\nb"], "json"),
    ("numbers", {"type": "array", "items": {"type": "integer"}}, [1, 2], "json"),
    ("object", {"type": "object"}, {"a": [1, None]}, "json"),
    ("any", {}, {"a": 1}, "json"),
    ("null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, None, "text"),
    ("text or null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", "text"),
    (
        "number or null",
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        3,
        "integer",
    ),
    ("flag or null", {"anyOf": [{"type": "boolean"}, {"type": "null"}]}, None, "flag"),
    ("two kinds", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, 3, "json"),
]
every_shape = pytest.mark.parametrize(
    ("shape", "value", "widget"),
    [case[1:] for case in SHAPES],
    ids=[case[0] for case in SHAPES],
)


def there_and_back(shape, given_arguments, required=()):
    """The arguments as they are after a browser sent the form untouched."""
    schema = {"properties": {"it": shape}, "required": list(required)}
    (argument,) = arguments_of(schema, given_arguments)
    shown = argument.field().initial
    sent = "" if shown is None else str(shown).replace("\r\n", "\n")
    entered = argument.field().clean(sent.replace("\n", "\r\n"))
    arguments: dict[str, Any] = {}
    argument.put(entered, arguments)
    return arguments


@every_shape
def test_an_untouched_value_comes_back_the_same(shape, value, widget):
    back = there_and_back(shape, {"it": value})

    assert back == {"it": value}
    assert type(back["it"]) is type(value)


@every_shape
def test_it_is_shown_by_the_field_that_fits(shape, value, widget):
    (argument,) = arguments_of({"properties": {"it": shape}}, {"it": value})

    assert argument.widget == widget


@every_shape
def test_what_was_not_given_stays_away(shape, value, widget):
    assert there_and_back(shape, {}) == {}


def test_an_argument_the_schema_does_not_know_is_kept():
    (argument,) = arguments_of({"properties": {}}, {"extra": {"a": 1}})

    assert argument.widget == "json"


@pytest.mark.parametrize(
    ("shape", "entered"),
    [
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "true"),
        ({"type": "object"}, "{"),
        ({"type": "array", "items": {"type": "integer"}}, "[1,"),
    ],
)
def test_what_is_no_such_value_is_refused(shape, entered):
    (argument,) = arguments_of({"properties": {"it": shape}}, {})

    with pytest.raises(ValueError, match=r"JSON|number"):
        argument.put(argument.field().clean(entered), {})


def test_a_needed_number_may_not_be_left_empty():
    schema = {"properties": {"it": {"type": "integer"}}, "required": ["it"]}
    (argument,) = arguments_of(schema, {"it": 3})

    with pytest.raises(ValueError, match="needed"):
        argument.put(None, {})


def test_clearing_an_optional_value_takes_it_away():
    (argument,) = arguments_of({"properties": {"it": {"type": "integer"}}}, {"it": 3})
    arguments: dict[str, Any] = {}

    argument.put(None, arguments)

    assert arguments == {}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_any_text_comes_back_the_same(text):
    # HTML has no lone CR: a browser sends every line end as CR LF
    text = text.replace("\r", "\n")

    assert there_and_back({"type": "string"}, {"it": text}) == {"it": text}
