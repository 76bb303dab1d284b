"""The worst case of the next model call, before it is made. Pure."""

from __future__ import annotations

from decimal import Decimal

from runs import budgets, canonical, conversation, pricing
from runs.budgets import Reservation
from runs.facts import Facts
from runs.progress import Progress


def prompt_tokens(facts: Facts, progress: Progress) -> int:
    """Input of the next model call: last count plus what was added, upwards."""
    size = progress.bytes_since
    if not progress.last_tokens:
        size += facts.tools_bytes
    return progress.last_tokens + budgets.tokens_of(size)


def reserve(facts: Facts, progress: Progress) -> Reservation:
    tokens = prompt_tokens(facts, progress)
    return worst(facts, facts.config.model, tokens, facts.config.max_output_tokens)


def reserve_plan(facts: Facts, progress: Progress) -> Reservation:
    """A plan is asked for with words and a shape of its own, and without tools."""
    asked = [conversation.user(conversation.PLAN_INSTRUCTION), conversation.PLAN_SCHEMA]
    size = progress.bytes_since + canonical.size(canonical.dumps(asked))
    tokens = progress.last_tokens + budgets.tokens_of(size)
    return worst(facts, facts.config.model, tokens, facts.config.max_output_tokens)


def worst(facts: Facts, model: str, tokens: int, output: int) -> Reservation:
    price = facts.toolbox.prices.get(model)
    money = pricing.worst_case(tokens, output, price) if price else Decimal(0)
    return Reservation(pricing.stored(money), tokens + output)
