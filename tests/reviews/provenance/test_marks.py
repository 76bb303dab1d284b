"""Marks tell where values come from, and never claim a source that is none."""

from __future__ import annotations

from typing import Any

import pytest

from reviews.provenance.figures import figures
from reviews.provenance.marks import (
    Index,
    Kind,
    Origin,
    Source,
    leaves,
    marked,
)

pytestmark = pytest.mark.once

ROWS = {
    "columns": ["month", "revenue"],
    "rows": [["2024-07", 1250000], ["2024-08", 1380000], ["2024-09", 1895000]],
}
TASK = (
    "Query monthly_revenue for Q3 2024, region North America, and flag any month above"
    " 30 %. E-mail it to analytics@company.com with the subject"
    ' "Q3 2024 Revenue Summary". The budget was 1.38 million, order INV-2041.'
)


def a_run(*more: Source) -> Index:
    """The sources of the quarterly story, and what else is given."""
    return Index.of(
        [
            Source(Origin.TASK, "the task", TASK),
            Source(Origin.TASK, "the form", {"region": "North America", "copies": 2}),
            Source(
                Origin.ADMIN, "the tool's settings", {"sender": "metrics@company.com"}
            ),
            Source(Origin.TOOL, "Query database", ROWS, 5),
            Source(Origin.TOOL, "Calculate", {"value": "37.318840579710144928"}, 7),
            Source(
                Origin.PERSON, "a reviewer's words", "Use 4,525,100 as the total.", 8
            ),
            *more,
        ]
    )


def a_page(text: str, step: int = 4) -> Source:
    return Source(Origin.UNTRUSTED, "HTTP request", {"body": text}, step)


def only(text: str, index: Index) -> Any:
    found = marked(text, index)
    assert len(found) == 1, [text[m.start : m.end] for m in found]
    return found[0].mark


SOURCED = [
    ("1,250,000", 5),
    ("1250000", 5),
    ("$1,380,000", 5),
    ("1,895,000.00", 5),
    ("1'895'000", 5),
    ("1\u00a0895\u00a0000", 5),
    ("+1,895,000", 5),
    ("2024-07", 5),
    ("analytics@company.com", None),
    ("**analytics@company.com**", None),
    ("<analytics@company.com>", None),
    ("INV-2041", None),
    ("2024", None),
    ("1.38 million", None),
    ("4,525,100", 8),
    ("37.318840579710144928 %", 7),
]


@pytest.mark.parametrize(("text", "step"), SOURCED)
def test_what_stands_in_a_source_as_a_whole_has_that_source(text, step):
    mark = only(text, a_run())

    assert (mark.kind, mark.step, mark.tone) == (Kind.SOURCED, step, "")


NOWHERE = [
    # computed, so right, and all the same from nowhere
    "4,525,000",
    # a part of a longer number or word, or longer than one
    "125000",
    "12500000",
    "250,000",
    "895000",
    "INV-204",
    "INV-20411",
    "XINV-2041",
    "204",
    "2041",
    # another value, if the separators are read as they are meant
    "1.250",
    "1.895",
    "1,895",
    "1.250.000",
    "1 250 000",
    "1,25,0000",
    "01250000",
    # another sign, another notation, another scale
    "-1,250,000",
    "\u22121,250,000",
    "1.25M",
    "1.38M",
    "$1.38",
    "1.38 billion",
    "1.38 \u00d7 10^6",
    "1380k",
    "1.895e6",
    "0.37318840",
    "1250000‰",
    # rounded, but wrongly, or too far
    "37.4 %",
    "37.31885",
    "-37.3",
    "1,900,000",
    # other days, other people
    "2024-10",
    "07/2024",
    "eve@company.com",
    "analytics@company.com.evil.example",
    "x.analytics@company.com",
    "analytics@company.co",
    "https://company.com/report",
    "company.com",
]


@pytest.mark.parametrize("text", NOWHERE)
def test_what_no_source_has_as_a_whole_has_no_source(text):
    marks = [one.mark for one in marked(text, a_run())]

    assert marks
    assert {mark.kind for mark in marks} <= {Kind.NOWHERE, Kind.UNCLEAR}
    assert any(mark.kind is Kind.NOWHERE for mark in marks)


@pytest.mark.parametrize(
    "text", ["0", "1", "2", "30 %", "7", "99", "0.5", "100", "500", "Q3", "3x", "v2"]
)
def test_what_may_stand_there_by_chance_has_no_clear_source(text):
    assert only(text, a_run()).kind is Kind.UNCLEAR


@pytest.mark.parametrize(
    ("text", "is_rounded"),
    [
        ("37.3 %", True),
        ("37.32", True),
        ("+37.319 %", True),
        ("37.31", False),  # cut off, not rounded
        ("37.30", False),
        ("37.4", False),
        ("-37.3", False),
    ],
)
def test_a_rounded_number_is_said_to_be_rounded(text, is_rounded):
    mark = only(text, a_run())

    assert (mark.kind is Kind.ROUNDED) == is_rounded
    if is_rounded:
        assert mark.words.startswith("Rounded from 37.318840579710144928 (step 7")


def test_rounding_goes_up_at_the_next_whole_number():
    index = Index.of([Source(Origin.TOOL, "Calculate", "136.96", 3)])

    assert only("137.0", index).kind is Kind.ROUNDED


VALUES = [
    ("analytics@company.com", "to", Kind.SOURCED),
    ("North America", "region", Kind.SOURCED),
    ("Q3 2024 Revenue Summary", "subject", Kind.SOURCED),
    ("Q3  2024\nRevenue Summary", "subject", Kind.SOURCED),
    (1250000, "amount", Kind.SOURCED),
    (1250000.0, "amount", Kind.SOURCED),
    (2, "copies", Kind.SOURCED),
    (2, "pages", Kind.UNCLEAR),
    (1, "copies", Kind.UNCLEAR),
    ("2", "copies", Kind.UNCLEAR),
    (True, "express", Kind.UNCLEAR),
    (None, "reply_to", Kind.UNCLEAR),
    ("Q3", "quarter", Kind.UNCLEAR),
    ("the", "word", Kind.UNCLEAR),
    ("Q3 2024 Revenue", "subject", Kind.SOURCED),
    ("3 2024 Revenue Summary", "subject", Kind.WRITTEN),
    ("Q3 2024 Revenue Summa", "subject", Kind.WRITTEN),
    ("Q3 2024 revenue summary", "subject", Kind.WRITTEN),
    ("An enterprise deal closed in September", "body", Kind.WRITTEN),
    ("enterprise", "tag", Kind.NOWHERE),
    ("eve@evil.example", "to", Kind.NOWHERE),
    ("*analytics@company.com", "to", Kind.NOWHERE),
    (4525000, "total", Kind.NOWHERE),
    (37.3, "growth", Kind.ROUNDED),
]


@pytest.mark.parametrize(("value", "key", "kind"), VALUES)
def test_a_whole_value_has_one_mark(value, key, kind):
    assert a_run().value(value, key).kind is kind


def test_the_name_of_a_field_lets_a_short_value_have_a_source():
    index = Index.of(
        [Source(Origin.TASK, "the task", "Post it. copies: 3, express=yes")]
    )

    assert index.value(3, "copies").kind is Kind.SOURCED
    assert index.value("yes", "express").kind is Kind.SOURCED
    assert index.value(3, "pages").kind is Kind.UNCLEAR
    assert index.value(33, "copies").kind is Kind.UNCLEAR


def test_untrusted_content_goes_before_every_other_source():
    index = a_run(a_page("Write to analytics@company.com at once"))

    mark = index.value("analytics@company.com", "to")

    assert (mark.tone, mark.icon, mark.step) == ("bad", "web", 4)
    assert "also in the task" in mark.words


def test_a_value_that_only_a_web_page_gave_is_marked_so():
    mark = only("Pay 98,765.43 now", a_run(a_page("The price is 98765.43 EUR.")))

    assert mark.words == "From untrusted content, HTTP request, step 4"


def test_a_number_rounded_from_a_web_page_is_no_calmer():
    mark = only("98.8", a_run(a_page("It is 98.765 now.")))

    assert (mark.kind, mark.tone) == (Kind.ROUNDED, "bad")


def test_a_result_that_says_again_what_the_call_said_is_no_source():
    asked = {"sql": "SELECT 4525000 AS total, 'eve@evil.example' AS person"}
    echo = Source(
        Origin.TOOL,
        "Query database",
        {"rows": [[4525000, "eve@evil.example", 777123]]},
        6,
        asked,
    )

    index = a_run(echo)

    assert only("4,525,000", index).kind is Kind.NOWHERE
    assert index.value("eve@evil.example", "to").kind is Kind.NOWHERE
    assert only("777,123", index).step == 6


def test_a_value_in_two_halves_has_no_source():
    halves = [a_page("eve@"), Source(Origin.TOOL, "Query database", "evil.example", 6)]

    assert a_run(*halves).value("eve@evil.example", "to").kind is Kind.NOWHERE


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("Analytics@Company.com", Kind.CASE),
        ("analytics@c\u043empany.com", Kind.ALIKE),  # a Cyrillic o
        ("\u0430nalytics@company.com", Kind.ALIKE),
        ("analytics@cornpany.com", Kind.ALIKE),
        ("analytics@company\u200b.com", Kind.ALIKE),
        ("analytics@company.com\u2060", Kind.ALIKE),
        ("\uff41nalytics@company.com", Kind.ALIKE),
        ("analytics@compány.com", Kind.ALIKE),
        ("analytlcs@company.com", Kind.NOWHERE),
    ],
)
def test_an_address_that_looks_like_another_is_told_apart(address, kind):
    mark = a_run().value(address, "to")

    assert mark.kind is kind
    assert mark.tone == {"alike": "bad"}.get(kind.value, "wait")
    if kind is not Kind.NOWHERE:
        assert "analytics@company.com (the task)" in mark.words


@pytest.mark.parametrize(
    "text", ["".join(chr(ord(d) + 0xFEE0) for d in "1250000"), "125000\u20600"]
)
def test_digits_that_only_look_like_a_number_of_a_source_are_told_apart(text):
    mark = only(text, a_run())

    assert (mark.kind, mark.tone) == (Kind.ALIKE, "bad")


def test_where_not_everything_was_searched_nothing_is_made_up():
    index = Index.of([Source(Origin.TASK, "the task", TASK)], is_cut=True)

    assert only("4,525,000", index).words == "Not found in what was searched"


def test_a_look_up_that_gave_up_does_not_say_made_up():
    text = " ".join(f"1250000x{n}" for n in range(300))
    index = Index.of([Source(Origin.TOOL, "Query database", text, 2)])

    assert only("1,250,000", index).kind is Kind.UNSEARCHED


def test_a_line_of_comma_separated_values_has_its_values():
    index = Index.of([Source(Origin.TOOL, "Read file", "2024-07,1250000,North", 2)])

    assert only("1,250,000", index).step == 2
    assert only("2024-07", index).step == 2


def test_text_inside_json_is_read_as_the_text_it_is():
    body = 'Total:\n1250000\t"98765" and C:\\new\\55555'
    index = Index.of([Source(Origin.TOOL, "Read file", {"body": body}, 2)])

    assert only("1,250,000", index).step == 2
    assert only("98,765", index).step == 2
    assert only(
        "99,555", Index.of([Source(Origin.TOOL, "x", {"a": "C:\\n99555"})])
    ).kind is (Kind.NOWHERE)


def test_every_leaf_is_told_with_its_path():
    value = {"to": ["a", "b"], "headers": {"X-Id": 7}, "cc": []}

    assert list(leaves(value)) == [
        ("to[1]", "to", "a"),
        ("to[2]", "to", "b"),
        ("headers.X-Id", "X-Id", 7),
        ("cc", "cc", []),
    ]


def test_figures_of_a_markdown_mail_are_found_where_they_stand():
    body = "| July | 1,250,000 | |\n| August | 1,380,000 | **+10.4 %** |\n"

    found = [body[one.start : one.end] for one in figures(body)]

    assert found == ["1,250,000", "1,380,000", "+10.4 %"]
