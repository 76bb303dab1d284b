"""Costs are exact, prices are nobody else's."""

from __future__ import annotations

from decimal import Decimal

import pytest

from runs.llm.base import DEMO_MODEL, Usage
from runs.pricing import (
    Price,
    cost,
    list_price,
    price_of,
    worst_case,
)

PRICE = Price(Decimal("2.50"), Decimal("1.25"), Decimal("10.00"))
WITHOUT_CACHED = Price(Decimal("2.50"), None, Decimal("10.00"))


def test_b01_cached_tokens_are_counted_once() -> None:
    usage = Usage(input=2006, output=300, cached=1920)

    assert cost(usage, PRICE) == Decimal("0.005615")


def test_b01_without_a_cached_price_they_cost_the_full_one() -> None:
    usage = Usage(input=2006, output=300, cached=1920)

    assert cost(usage, WITHOUT_CACHED) == Decimal("0.008015")


def test_a_cached_price_of_nothing_is_a_price() -> None:
    price = Price(Decimal("2.50"), Decimal(0), Decimal("10.00"))

    assert cost(Usage(input=100, output=0, cached=100), price) == 0


def test_b06_sums_of_tiny_amounts_are_exact() -> None:
    price = Price(Decimal("0.1"), None, Decimal("0.7"))

    total = sum((cost(Usage(1, 1), price) for _ in range(10_000)), Decimal(0))

    assert total == Decimal("0.008")


@pytest.mark.parametrize("wrong", ["-1", "NaN", "Infinity"])
def test_what_is_no_price_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="no price"):
        Price(Decimal(wrong), None, Decimal(1))


def test_the_worst_case_has_nothing_cached_and_a_full_output() -> None:
    assert worst_case(1000, 500, PRICE) == Decimal("0.0075")


def test_the_worst_case_is_never_below_the_real_cost() -> None:
    dear_cache = Price(Decimal(1), Decimal(2), Decimal(1))

    real = cost(Usage(input=10, output=5, cached=10), dear_cache)

    assert worst_case(10, 5, dear_cache) >= real


def test_a_listed_model_has_its_price() -> None:
    price = list_price("gpt-4o")

    assert price == Price(Decimal("2.5"), Decimal("1.25"), Decimal(10))
    assert list_price("openai/gpt-4o") == price


@pytest.mark.parametrize(
    "model",
    [
        "",
        "no-such-model",
        "gpt-4o-2031-01-01",
        "gpt-4o-of-our-own",
        "gpt-5-nano-of-our-own",
        "computer-use-of-our-own",
        "gpt",
        "llama3.2",
        "my/gpt-4o",
        "text-embedding-3-small",
    ],
)
def test_b03_a_model_that_is_not_listed_has_none(model: str) -> None:
    assert list_price(model) is None


def test_an_admins_price_comes_first_and_may_be_nothing() -> None:
    free = Price(Decimal(0), None, Decimal(0))

    assert price_of("gpt-4o", {"gpt-4o": free}) == free
    assert price_of("llama3.2", {"llama3.2": PRICE}) == PRICE
    assert price_of("llama3.2", {"gpt-4o": PRICE}) is None


def test_the_demo_model_costs_nothing() -> None:
    assert list_price(DEMO_MODEL) == Price(Decimal(0), None, Decimal(0))
