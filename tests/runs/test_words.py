"""Figures read as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from runs import words

NOW = datetime(2026, 11, 29, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "$0"),
        ("2", "$2.00"),
        ("1234.5", "$1,234.50"),
        ("0.5", "$0.50"),
        ("0.0042", "$0.0042"),
        ("0.12345", "$0.1235"),
        ("0.0000123", "$0.000012"),
        (None, ""),
    ],
)
def test_money_has_enough_digits(amount, shown):
    assert words.money(amount) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0031, "3 ms"),
        (0.04, "0.04 s"),
        (3.44, "3.4 s"),
        (7, "7 s"),
        (59.97, "1 min"),
        (72, "1 m 12 s"),
        (300, "5 min"),
        (8040, "2 h 14 m"),
        (3600, "1 h"),
        (277_200, "3 d 5 h"),
    ],
)
def test_durations_use_two_units(seconds, shown):
    assert words.duration(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (3, "just now"),
        (45, "45 s ago"),
        (1080, "18 min ago"),
        (7300, "2 h ago"),
        (3 * 86_400, "3 d ago"),
    ],
)
def test_ages_are_coarse(seconds, shown):
    assert words.ago(NOW - timedelta(seconds=seconds), NOW) == shown


def test_an_age_of_months_is_a_date():
    assert words.ago(datetime(2026, 7, 2, tzinfo=UTC), NOW) == "2 Jul 2026"


def test_a_deadline_says_what_is_left_or_by_how_much_it_is_missed():
    assert words.left(NOW + timedelta(minutes=134), NOW) == "2 h 14 m left"
    assert words.left(NOW - timedelta(minutes=3), NOW) == "overdue by 3 min"


def test_percent_keeps_a_digit_only_where_there_is_one():
    assert words.percent(0.62) == "62 %"
    assert words.percent(Decimal("0.995")) == "99.5 %"


def test_a_moment_is_told_on_the_readers_clock_with_its_day_if_that_is_another():
    with timezone.override("Europe/Vienna"):
        assert words.at(NOW, NOW) == "15:00 CET"
        assert words.at(NOW + timedelta(hours=10), NOW) == "30 Nov, 01:00 CET"
