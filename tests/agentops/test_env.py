"""Readers of the environment: a wrong value is told by name, never guessed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.core.exceptions import ImproperlyConfigured

from agentops import env

NAME = "AGENTOPS_TEST_VALUE"


@pytest.fixture
def given(monkeypatch):
    return lambda value: monkeypatch.setenv(NAME, value)


@pytest.mark.parametrize("empty", ["", "   "])
def test_a_variable_set_to_nothing_counts_as_not_set(given, empty):
    given(empty)

    assert env.text(NAME, "default") == "default"
    assert env.integer(NAME, 7) == 7
    assert env.flag(NAME, True) is True


@pytest.mark.parametrize("word", ["1", "true", "YES", "On"])
def test_a_flag_is_on(given, word):
    given(word)

    assert env.flag(NAME) is True


@pytest.mark.parametrize("word", ["0", "false", "NO", "Off"])
def test_a_flag_is_off(given, word):
    given(word)

    assert env.flag(NAME, True) is False


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (lambda: env.flag(NAME), "perhaps"),
        (lambda: env.integer(NAME, 1), "1.5"),
        (lambda: env.integer(NAME, 1, minimum=1), "0"),
        (lambda: env.number(NAME, 1.0), "soon"),
        (lambda: env.number(NAME, 1.0), "nan"),
        (lambda: env.number(NAME, 1.0), "inf"),
        (lambda: env.number(NAME, 1.0), "1e12"),
        (lambda: env.number(NAME, 1.0, above_zero=True), "0"),
        (lambda: env.share(NAME, 0.5), "1.1"),
        (lambda: env.money(NAME, Decimal(1)), "-1"),
        (lambda: env.money(NAME, Decimal(1)), "NaN"),
        (lambda: env.money(NAME, Decimal(1)), "a dollar"),
        (lambda: env.choice(NAME, "a", among=("a", "b")), "c"),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_what_was_found(
    given, reader, value
):
    given(value)

    with pytest.raises(ImproperlyConfigured, match=f"{NAME} must be .*{value}"):
        reader()


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        *[
            (lambda: env.database(NAME, ""), url)
            for url in (
                "hunter22",
                "postgres://ana:hunter/22@db/x",
                "postgres://ana:hunter22@db:port/x",
                "postgres://ana:hunter22\u2100@db/x",
                "posgres://ana:hunter22@db/x",
                "mysql://ana:hunter22@db/x",
            )
        ],
        *[
            (lambda: env.zone(NAME, "UTC"), zone)
            for zone in ("hunter22", "../../hunter22", "/hunter22", "Europe", ".")
        ],
    ],
)
def test_a_wrong_address_or_zone_is_refused_without_what_was_found(
    given, reader, value
):
    given(value)

    with pytest.raises(ImproperlyConfigured, match=f"{NAME} must be ") as caught:
        reader()

    assert "hunter" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_addresses_of_databases_and_time_zones_are_read(given):
    given("postgresql://ana:a%2Fb@db.example:5433/agentops")

    assert env.database(NAME, "").endswith("@db.example:5433/agentops")
    assert env.database("AGENTOPS_TEST_OTHER", "sqlite:////a").endswith("/a")
    assert env.zone("AGENTOPS_TEST_ZONE", "Europe/Berlin") == "Europe/Berlin"


def test_right_values_are_read(given):
    given("0.25")

    assert env.number(NAME, 1.0) == 0.25
    assert env.share(NAME, 1.0) == 0.25
    assert env.money(NAME, Decimal(1)) == Decimal("0.25")


def test_words_are_divided_by_commas(given):
    given(" a.example.com, b.example.com ,")

    assert env.words(NAME) == ["a.example.com", "b.example.com"]
