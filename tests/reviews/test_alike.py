"""What looks alike, and what stands out of it: with planted outliers and coincidences."""

from __future__ import annotations

from typing import Any

import pytest

from reviews import alike
from runs.states import ParkReason
from runs.values import Park, ProposedCall

pytestmark = pytest.mark.once


def call(arguments: dict[str, Any], **fields: Any) -> ProposedCall:
    values: dict[str, Any] = {
        "tool": "pay",
        "effect": "idempotent",
        "digest": "",
        "key": "",
    }
    values |= {"id": "call_1", "occurrence": 1, "title": "Pay"} | fields
    return ProposedCall(arguments=arguments, **values)


def shape(
    arguments: dict[str, Any] | None = None,
    reason: ParkReason = ParkReason.LOW_CONFIDENCE,
    error: str = "",
    title: str = "Pay",
    question: str = "Sure?",
    **fields: Any,
) -> str:
    made = None if arguments is None else call(arguments, **fields)
    park = Park(
        reason=reason,
        title=title,
        question=question,
        step=3,
        call=made,
        error={"class": "transient", "text": error} if error else None,
    )
    return alike.shape(park.as_json())


# Shape of a call


def test_calls_with_the_same_names_and_types_are_alike():
    assert shape({"to": "ana", "amount": 3}) == shape({"amount": 4.5, "to": "ben"})


def test_an_argument_that_is_null_counts_as_not_given():
    assert shape({"to": "ana", "memo": None}) == shape({"to": "ben"})


@pytest.mark.parametrize(
    "other",
    [
        {"arguments": {"to": "ana", "amount": "3"}},
        {"arguments": {"to": "ana"}},
        {"arguments": {"to": "ana", "amount": 3, "urgent": True}},
        {"arguments": {"to": ["ana"], "amount": 3}},
        {"arguments": {"to": "ana", "amount": 3}, "tool": "refund"},
        {"arguments": {"to": "ana", "amount": 3}, "effect": "irreversible"},
        {"arguments": {"to": "ana", "amount": 3}, "reason": ParkReason.ALWAYS_ASK},
    ],
)
def test_another_type_name_tool_effect_or_reason_is_another_shape(other):
    assert shape({"to": "ana", "amount": 3}) != shape(**other)


def test_a_boolean_is_no_number():
    assert shape({"amount": True}) != shape({"amount": 1})


def test_questions_are_alike_by_their_words():
    asked: dict[str, Any] = {"reason": ParkReason.QUESTION, "tool": "ask_human"}
    first = shape({"question": "Which of 2?"}, title="Which of 2?", **asked)

    assert first == shape({"question": "Which of 3?"}, title="Which of 3?", **asked)
    assert first != shape({"question": "Whose?"}, title="Whose?", **asked)


# Shape of an error


def stopped(text: str, **fields: Any) -> str:
    return shape(reason=ParkReason.RETRIES, error=text, **fields)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The endpoint answered 503: overloaded (request req_0a1b2c)",
            "The endpoint answered 503: overloaded (request req_99zz11)",
        ),
        ("api.example.com did not answer within 30 s.", "api.example.com did not answer within 7.5 s."),
        ("No mailbox 'ana@example.com'", "No mailbox 'ben@example.com'"),
        ('No mailbox "ana"', 'No mailbox "ben of x"'),
        (
            "run 6f9619ff-8b86-4011-b42d-00cf4fc964ff at 14:02:33",
            "run 00000000-aaaa-4011-b42d-0123456789ab at 9:15:01",
        ),
    ],
)  # fmt: skip
def test_one_outage_is_one_shape_whatever_its_figures(one, other):
    assert stopped(one) == stopped(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The endpoint answered 503.", "The endpoint answered 401."),
        ("a.example.com cannot be reached", "b.example.com cannot be reached"),
        ("The database is busy", "The database is away"),
    ],
)
def test_another_trouble_is_another_shape(one, other):
    assert stopped(one) != stopped(other)


def test_a_number_with_a_unit_is_no_status():
    assert stopped("late by 503 ms") == stopped("late by 17 ms")


def test_the_same_words_of_another_tool_or_reason_are_another_shape():
    assert stopped("busy") != stopped("busy", arguments={"to": "ana"})
    assert stopped("busy") != shape(reason=ParkReason.FATAL, error="busy")


def test_what_stopped_is_alike_whatever_the_call_was_about():
    assert stopped("busy", arguments={"to": "a"}) == stopped("busy", arguments={"x": 1})


def test_what_stopped_without_an_error_is_alike_by_its_question():
    poison: dict[str, Any] = {"reason": ParkReason.POISON}
    first = shape(question="Its worker died 2 times.", **poison)

    assert first == shape(question="Its worker died 5 times.", **poison)


def test_a_long_error_is_looked_at_up_to_a_bound():
    assert alike.bare("a " * alike.LOOKED_AT + "b") == alike.bare("a " * 5_000)


# Outliers


def group(name: str, *values: Any) -> list[dict[str, Any]]:
    return [{"memo": "rent", name: value} for value in values]


def test_two_amounts_of_forty_stand_out():
    found = alike.compare(group("amount", *[100] * 20, 5_000, *[100] * 18, 2))

    assert found.words == "38 alike, 2 differ in amount"
    assert dict(found.outliers) == {20: ["amount"], 39: ["amount"]}
    assert found.same == {"memo": "rent"}
    assert list(found.differing) == ["amount"]


def test_amounts_near_each_other_have_one_that_is_far():
    found = alike.compare(group("amount", 98, 101, 103, 99, 100.5, 970, 102))

    assert dict(found.outliers) == {5: ["amount"]}
    assert found.words == "6 alike, 1 differs in amount"


def test_amounts_written_as_text_are_numbers():
    found = alike.compare(group("amount", "98.00", "101.50", "99.10", "9900.00"))

    assert list(found.outliers) == [3]


def test_a_missing_amount_stands_out():
    found = alike.compare([*group("amount", 98, 101, 103, 99), {"memo": "rent"}])

    assert list(found.outliers) == [4]


@pytest.mark.parametrize(
    "values",
    [
        (1, 17, 230, 4_000, 55_000, 9, 710),
        (10, 10, 10, 500, 500, 500),
        ("one", "two", "three", "four"),
        (True, False, True, False),
    ],
)
def test_what_lies_anywhere_has_no_outliers(values):
    found = alike.compare(group("value", *values))

    assert found.outliers == {}
    assert found.words == f"{len(values)} alike"
    assert list(found.differing) == ["value"]


def test_an_address_of_another_domain_stands_out():
    people = [f"{name}@example.com" for name in ("ana", "ben", "cem", "dan")]

    found = alike.compare(
        group("to", *[[one] for one in people], ["eve@elsewhere.net"])
    )

    assert dict(found.outliers) == {4: ["to"]}


def test_a_link_to_another_host_stands_out():
    links = [f"https://example.com/order/{name}" for name in "abcd"]

    found = alike.compare(group("url", *links, "https://example.org/order/a"))

    assert list(found.outliers) == [4]


def test_words_that_differ_in_their_figures_alone_are_near():
    words = [f"Refund {10 + n}.00 EUR for order {1000 + n}" for n in range(6)]

    found = alike.compare(group("text", *words, "Forward all orders to me"))

    assert list(found.outliers) == [6]


def test_a_difference_beyond_the_bound_is_still_a_difference():
    long = "a " * alike.LOOKED_AT

    found = alike.compare(group("text", long, long, long, long + "and pay Eve"))

    assert list(found.outliers) == [3]


def test_a_true_is_not_the_same_as_one():
    found = alike.compare(group("urgent", 1, 1, 1, True))

    assert list(found.outliers) == [3]


def test_one_that_differs_in_two_fields_is_counted_once():
    usual = {"amount": 5, "to": "ana"}

    found = alike.compare(
        [usual] * 6 + [{"amount": 6, "to": "eve"}, usual | {"to": "x"}]
    )

    assert found.words == "6 alike, 2 differ in amount and to"


def test_of_two_nobody_stands_out():
    assert alike.compare(group("amount", 1, 2)).outliers == {}


def test_a_group_without_arguments_is_alike():
    assert alike.compare([{}, {}, {}]).words == "3 alike"
