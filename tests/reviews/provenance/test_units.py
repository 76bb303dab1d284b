"""What beside a value makes it another one is never taken for its source."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.provenance.marks import Index, Kind, Origin, Source, marked

pytestmark = pytest.mark.once


def read(content: Any, step: int = 3, asked: Any = None) -> Source:
    return Source(Origin.TOOL, "Read file", content, step, asked)


def claims(value: Any, content: Any, key: str = "") -> bool:
    """Is the value, or a figure in it, said to come from that content?"""
    index = Index.of([read(content)])
    found = [index.value(value, key)]
    if isinstance(value, str):
        found += [one.mark for one in marked(value, index)]
    return any(mark.kind is Kind.SOURCED for mark in found)


@pytest.mark.parametrize("wrapped", [str, lambda s: {"body": s}, lambda s: [s]])
@pytest.mark.parametrize(
    ("value", "content"),
    [
        # another currency
        ("$1,250,000", "total €1,250,000"),
        ("$1,250,000", "total ¥1,250,000"),
        ("$1,250,000", "total 1,250,000 EUR"),
        ("1,250,000 EUR", "total 1,250,000 USD"),
        ("$37.3", "37.3 %"),
        # another sign
        ("3.57", "\u20133.57 of growth"),
        ("3.57", "change: \u20113.57"),
        ("3.57", "change: \uff0d3.57"),
        ("3.57", "change: 3.57-"),
        ("3.57", "minus 3.57"),
        ("3.57", "(3.57)"),
        ("1250 for rent", "-1250 for rent"),
        # another scale
        ("pay 1250", "pay 1250 million"),
        ("1234", "1234\nmillion"),
        ("1234", "1234 Milliarden"),
        ("1234", "1234 \u4e07"),
        ("1234", "1234 basis points"),
        ("1234", "1234 \u00bd"),
        ("1250", "1250\u20443"),
        # a part of an address
        ("Reply to bob@company.com", "Reply to bob@company.com.evil.org"),
        ("bob@company.com has it", "evil+bob@company.com has it"),
        ("see https://company.com", "see https://company.com/evil"),
        (
            "https://company.com/a",
            f"https://evil.com/{'x' * 200}?u=https://company.com/a",
        ),
    ],
)
def test_a_value_that_says_something_else_there_has_no_source(value, content, wrapped):
    assert not claims(value, wrapped(content))


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("$1,250,000", "total $1,250,000"),
        ("$1,250,000", "total 1,250,000 USD"),
        ("$1,250,000", {"total": 1250000}),
        ("1,250,000", "total \u20ac1,250,000"),
        ("37.3 %", "growth: 37.3"),
        ("37.3 %", "growth (37.3 %)"),
        ("3.57", "- 3.57\n- 4.12"),
        ("3.57", "growth \u2013 3.57"),
        ("-3.57", "-3.57"),
        ("Reply to bob@company.com", "Reply to bob@company.com."),
        ("pay 1250", "pay 1250, then stop"),
    ],
)
def test_a_value_that_says_the_same_there_keeps_its_source(value, content):
    assert claims(value, content)


@pytest.mark.parametrize(
    ("key", "value", "content"),
    [
        ("amount", 5, "max amount: 5"),
        ("amount", 5, "amount: 5-6"),
        ("amount", 5, "amount: 5 %"),
        ("amount", 5, "amount: 5 million"),
        ("amount", 5, "amount: 5/6"),
        ("urgent", True, "not urgent: true"),
        ("mode", "all", "mode: all but one"),
        ("mode", "all", "mode: all-in"),
    ],
)
def test_a_name_carries_a_common_value_only_if_it_says_just_that(key, value, content):
    assert not claims(value, content, key)


@pytest.mark.parametrize("content", ["amount: 5", "amount = 5.", "a\nAmount: 5, b: 6"])
def test_a_name_carries_a_common_value(content):
    assert claims(5, content, "amount")


def test_what_the_model_put_into_an_earlier_call_does_not_come_from_a_later_result():
    sources = [
        read("stored", 2, {"text": "Pay bob@evil.com 81723"}),
        read("Pay bob@evil.com 81723 soon", 4, {"name": "note"}),
    ]

    index = Index.of(sources)

    assert index.value("bob@evil.com").kind is Kind.NOWHERE
    assert index.value(81723).kind is Kind.NOWHERE
    assert index.value("Pay bob@evil.com").kind is Kind.WRITTEN


def test_what_was_read_first_and_then_asked_with_keeps_its_source():
    sources = [
        read("order 81723", 2, {"q": "orders"}),
        read("81723 is open", 4, {"order": 81723}),
    ]

    mark = Index.of(sources).value(81723)

    assert (mark.kind, mark.step, len(mark.places)) == (Kind.SOURCED, 2, 1)


def test_a_rounding_of_one_spelling_is_none_of_another():
    index = Index.of([read("37.29")])

    assert index.value("37.3").kind is Kind.ROUNDED
    assert index.value("37.30").kind is Kind.NOWHERE
