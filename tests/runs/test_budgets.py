"""Budgets: exact sums, sensible limits, and stopping when reached."""

from __future__ import annotations

from decimal import Decimal

import pytest

from runs.budgets import KINDS as ALL
from runs.budgets import (
    NOTHING,
    Reservation,
    Used,
    breach,
    limit_of,
    read_limits,
    tokens_of,
)
from runs.errors import BadInput


def test_a_tenth_and_seven_tenths_are_eight_tenths():
    spent = Decimal("0.1") + Decimal("0.7")

    found = breach({"money": "0.8"}, Used(money=spent), NOTHING)

    assert found is not None
    assert (found.kind, found.used, found.limit) == ("money", "$0.8000", "$0.8000")


def test_ten_thousand_tiny_amounts_add_up():
    spent = sum((Decimal("0.00008") for _ in range(10_000)), Decimal(0))

    assert breach({"money": "0.80001"}, Used(money=spent), NOTHING) is None
    assert breach({"money": "0.8"}, Used(money=spent), NOTHING) is not None


@pytest.mark.parametrize(
    ("limits", "used", "needs", "stops"),
    [
        ({"steps": 3}, Used(steps=2), NOTHING, ""),
        ({"steps": 3}, Used(steps=3), NOTHING, "steps"),
        ({"seconds": 10}, Used(seconds=9.9), NOTHING, ""),
        ({"seconds": 10}, Used(seconds=10.0), NOTHING, "seconds"),
        ({"tokens": 100}, Used(tokens=50), Reservation(tokens=50), ""),
        ({"tokens": 100}, Used(tokens=50), Reservation(tokens=51), "tokens"),
        ({"tokens": 100}, Used(tokens=100), NOTHING, "tokens"),
        ({"money": "1"}, Used(), Reservation(Decimal("1.01")), "money"),
        ({"money": "0"}, Used(), NOTHING, ""),
        ({"money": "0"}, Used(), Reservation(Decimal("0.01")), "money"),
        ({"money": None, "steps": None}, Used(10**6, 1e9, Decimal(99)), NOTHING, ""),
        ({}, Used(10**6, 1e9, Decimal(99), 10**9), NOTHING, ""),
    ],
)
def test_reached_means_stopped(limits, used, needs, stops):
    found = breach(limits, used, needs)

    assert (found.kind if found else "") == stops


def test_a_breach_says_what_was_used_and_what_would_do():
    used = Used(money=Decimal("0.40"))
    found = breach({"money": "0.5"}, used, Reservation(Decimal("0.2")))

    assert found is not None
    assert found.sentence() == (
        "Money: $0.4000 of $0.5000 used, the next call may take $0.2000."
        " About $2.0000 would see it to its end."
    )
    assert set(found.figures()) == {"budget", "used", "limit", "needed", "forecast"}


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    "value",
    [0, -1, "0", "-0.5", "NaN", "Infinity", "-inf", "x", [], {}, 10**12],
)
def test_a_limit_that_makes_no_sense_is_refused_by_name(kind, value):
    with pytest.raises(BadInput) as caught:
        read_limits({kind: value}, {})

    assert set(caught.value.fields) == {f"limits.{kind}"}


def test_a_limit_nobody_knows_is_refused():
    with pytest.raises(BadInput) as caught:
        read_limits({"love": 1, "steps": "2.5"}, {})

    assert set(caught.value.fields) == {"limits.love", "limits.steps"}


def test_limits_lie_over_the_defaults():
    defaults = {"steps": 25, "money": "0.50", "tokens": 5}
    given = {"steps": "7", "money": "", "tokens": None}

    limits = read_limits(given, defaults)

    assert limits == {"steps": 7, "money": "0.50", "tokens": None}
    assert limit_of(limits, ALL["tokens"]) is None
    assert limit_of(limits, ALL["money"]) == Decimal("0.50")


def test_tokens_are_estimated_upwards():
    assert [tokens_of(size) for size in (0, 1, 3, 4, 300)] == [0, 1, 1, 2, 100]


def test_a_forecast_speaks_of_whole_steps():
    found = breach({"steps": 25}, Used(steps=25), NOTHING)

    assert found is not None
    assert found.forecast == "13"
