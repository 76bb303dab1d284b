"""The worst case of the next model call, before it is made. Pure."""

from __future__ import annotations

from decimal import Decimal

from runs import budgets, pricing
from runs.budgets import Reservation
from runs.facts import Facts
from runs.progress import Progress


def prompt_tokens(facts: Facts, progress: Progress, *, with_tools: bool = True) -> int:
    """Input of the next model call: last count plus what was added, upwards."""
    size = progress.bytes_since
    if not progress.last_tokens and with_tools:
        size += facts.tools_bytes
    return progress.last_tokens + budgets.tokens_of(size)


def reserve(
    facts: Facts, progress: Progress, *, with_tools: bool = True
) -> Reservation:
    tokens = prompt_tokens(facts, progress, with_tools=with_tools)
    return worst(facts, facts.config.model, tokens, facts.config.max_output_tokens)


def worst(facts: Facts, model: str, tokens: int, output: int) -> Reservation:
    price = facts.toolbox.prices.get(model)
    money = pricing.worst_case(tokens, output, price) if price else Decimal(0)
    return Reservation(pricing.stored(money), tokens + output)
