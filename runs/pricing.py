"""What model calls cost: exact sums, list prices. Pure.

Money is `Decimal` US dollars. A model without a price is None, never 0; a price is
that of exactly the model asked for, whatever name the endpoint answers with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache

from genai_prices import data_snapshot, types

from agentops import clock
from runs.llm.base import DEMO_MODEL, Usage

_EXACT = Context(prec=60)
_PLACES = Decimal("0.0000000001")


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens; `cached` None means the full input price."""

    input: Decimal
    cached: Decimal | None
    output: Decimal

    def __post_init__(self) -> None:
        parts = (self.input, self.output, self.cached or Decimal(0))
        if not all(part.is_finite() and part >= 0 for part in parts):
            raise ValueError(f"{self} is no price")


FREE = Price(Decimal(0), None, Decimal(0))


def cost(usage: Usage, price: Price) -> Decimal:
    """Exactly what the usage costs; cached tokens are counted once."""
    cached_at = price.input if price.cached is None else price.cached
    parts = (
        (usage.input - usage.cached, price.input),
        (usage.cached, cached_at),
        (usage.output, price.output),
    )
    total = Decimal(0)
    for tokens, per_million in parts:
        amount = _EXACT.multiply(Decimal(tokens), per_million)
        total = _EXACT.add(total, amount)
    return _EXACT.scaleb(total, -6)


def worst_case(input_tokens: int, max_output_tokens: int, price: Price) -> Decimal:
    """The most a call can cost: nothing cached, the output used up."""
    dearest = max(price.input, price.cached or price.input)
    whole = Price(dearest, None, price.output)
    return cost(Usage(input=input_tokens, output=max_output_tokens), whole)


def stored(amount: Decimal) -> Decimal:
    """As the columns keep it, so that their sum is the counter; rounded upwards."""
    return amount.quantize(_PLACES, ROUND_UP)


def price_of(model: str, overrides: Mapping[str, Price]) -> Price | None:
    """An admin's price if there is one, 0 included, else the list price."""
    return overrides.get(model) or list_price(model)


def list_price(model: str) -> Price | None:
    """The published price of exactly this model, None where none is known.

    Takes plain names of the makers ("gpt-5-mini") and "provider/name". A name that
    the list only guesses at (by its beginning, say) has no price here, nor has one
    listed at 0. Of prices that grow with the input's length it is the first tier.
    """
    if model == DEMO_MODEL:
        return FREE
    found = _listed(model.strip().lower())
    if found is None:
        return None
    prices = found.get_prices(clock.now())
    values = vars(prices)
    read, written = _flat(values, "input_mtok"), _flat(values, "output_mtok")
    if read is None or written is None or not (read or written):
        return None
    return Price(read, _flat(values, "cache_read_mtok"), written)


@lru_cache(maxsize=1024)
def _listed(name: str) -> types.ModelInfo | None:
    snapshot = data_snapshot.get_snapshot()
    maker, _, rest = name.partition("/")
    for provider in snapshot.providers:
        if rest and provider.id == maker:
            return _exactly(provider, rest) or _exactly(provider, name)
    try:
        provider = snapshot.find_provider(name, None, None)
    except LookupError:
        return None
    return _exactly(provider, name)


def _exactly(provider: types.Provider, name: str) -> types.ModelInfo | None:
    for model in provider.models:
        if model.id == name or name in _names(model.match):
            return model
    return None


def _names(match: types.MatchLogic) -> set[str]:
    """The names a match stands for word for word; its patterns name nothing."""
    if isinstance(match, types.ClauseEquals):
        return {match.equals}
    if isinstance(match, types.ClauseOr):
        return set().union(*(_names(part) for part in match.or_))
    return set()


def _flat(values: Mapping[str, object], key: str) -> Decimal | None:
    value = values.get(key)
    if isinstance(value, types.TieredPrices):
        return value.base
    return value if isinstance(value, Decimal) else None
