"""Parked runs that look alike: calls that can be undone, and what one outage stopped."""

from __future__ import annotations

from typing import Any

from reviews.models import Review
from runs.canonical import digest, idempotency_key
from runs.models import Agent, Run
from runs.states import ParkReason, StepKind, StepStatus
from runs.tools.base import Effect, ToolSpec, tool
from tests.support import factory

AWAY = "The endpoint answered 503: overloaded (request req_{}a)"


def _words(arguments: dict[str, Any]) -> str:
    return f"Set the price of {arguments['item']}"


@tool(effect=Effect.IDEMPOTENT, describe=_words)
def set_price(item: str, amount: float, reason: str = "") -> dict[str, Any]:
    """Set a price."""
    return {"set": item}


def _effect(arguments: dict[str, Any]) -> Effect:
    return Effect.READ if arguments["method"] == "GET" else Effect.IRREVERSIBLE


@tool(effect=Effect.IRREVERSIBLE, effect_of=_effect)
def ask_shop(method: str, path: str) -> str:
    """Ask the shop's server."""
    return path


PRICE: ToolSpec = set_price
SHOP: ToolSpec = ask_shop
TOOLS = (PRICE, SHOP, factory.LETTER)


def make_agent(**fields: Any) -> Agent:
    grants = {spec.name: {"policy": "ask_below", "threshold": 0.8} for spec in TOOLS}
    return factory.make_agent(grants=grants, **fields)


def parked(
    spec: ToolSpec,
    arguments: dict[str, Any],
    agent: Agent,
    reason: ParkReason = ParkReason.LOW_CONFIDENCE,
    **fields: Any,
) -> Review:
    """A run of the agent that waits with this call."""
    run = factory.make_run(agent, fields.pop("by", None))
    call = factory.make_call(
        run,
        arguments,
        tool=spec.name,
        digest=digest([spec.name, arguments]),
        key=idempotency_key(run.root_key, spec.name, arguments, 1),
        effect=spec.effect_for(arguments).value,
        title=spec.words(arguments),
    )
    return factory.park(run, reason, call=call, **fields)


def price(amount: float, agent: Agent, item: str = "SKU 4471", **fields: Any) -> Review:
    arguments = {
        "item": item,
        "amount": float(amount),
        "reason": "The list price rose.",
    }
    return parked(PRICE, arguments, agent, **fields)


def stopped(number: int, agent: Agent, text: str = AWAY, **fields: Any) -> Review:
    """A run whose model's endpoint did not answer, its tries used up."""
    run: Run = factory.make_run(agent, fields.pop("by", None))
    error = {"class": "transient", "text": text.format(number)}
    failed = {"error_class": error["class"], "error_text": error["text"]}
    factory.add_step(run, StepKind.MODEL, status=StepStatus.FAILED.value, **failed)
    return factory.park(
        run,
        ParkReason.RETRIES,
        has_call=False,
        title=run.task,
        question=f"All tries failed: {error['text']}",
        error=error,
        **fields,
    )
