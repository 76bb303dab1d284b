"""Looking values up in texts of any kind: never a part, and never slowly."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.provenance.marks import Index, Kind, Origin, Source, marked
from tests.support.wait import cut_short

pytestmark = pytest.mark.once


def only(text: str, index: Index) -> Any:
    found = marked(text, index)
    assert len(found) == 1, [text[m.start : m.end] for m in found]
    return found[0].mark


# Whatever is thrown at it

_PARTS = st.one_of(
    st.integers(0, 99_999_999).map(str),
    st.integers(0, 99_999_999).map("{:,}".format),
    st.decimals(0, 9999, places=3, allow_nan=False).map(str),
    st.sampled_from(
        ["ana@x.com", "x@ana.com", "million", "M", "%", "-", ".", ",", "\u200b", "e5"]
    ),
    st.text(max_size=4),
)
_GLUE = st.sampled_from(["", " ", ",", ".", "-", "\n", ", "])
TEXTS = st.lists(st.tuples(_PARTS, _GLUE), max_size=12).map(
    lambda parts: "".join(a + b for a, b in parts)
)


@settings(max_examples=300, deadline=None)
@given(body=TEXTS, source=TEXTS)
def test_a_source_always_has_the_value_between_two_ends(body, source):
    """By another way: the digits of a sourced number stand there, no digit beside."""
    index = Index.of([Source(Origin.TOOL, "Read file", source, 1)])

    for one in marked(body, index):
        if one.mark.kind is not Kind.SOURCED:
            continue
        text = body[one.start : one.end]
        digits = re.sub(r"[^0-9]", "", text)
        bare = digits.strip("0")
        near = [
            re.sub(r"[^0-9]", "", run) for run in re.split(r"[^0-9.,'\u2019\s]", source)
        ]
        assert text in source or any(bare in run for run in near)


@settings(max_examples=200, deadline=None)
@given(number=st.integers(1001, 99_999_999), digit=st.integers(0, 9))
def test_no_number_is_found_inside_a_longer_one(number, digit):
    longer = Source(
        Origin.TOOL, "Read file", f"a {number}{digit} b {digit}{number}.", 1
    )
    index = Index.of([longer])

    kind = only(f"{number:,}", index).kind
    assert kind in {Kind.NOWHERE, Kind.UNCLEAR}


def test_a_long_mail_against_a_megabyte_holds_no_page_up():
    rows = [
        {"id": n, "month": f"2024-{n % 12:02}", "sum": n * 7.13} for n in range(20_000)
    ]
    source = Source(Origin.TOOL, "Query database", rows, 5)
    body = "".join(f"Row {n} has {n * 7.13:,.2f}, growing 37.3 %. " for n in range(400))

    with cut_short():
        found = marked(body, Index.of([source]))

    assert len(source.text.text) > 900_000
    assert len(body) > 12_000
    assert len(found) > 800
