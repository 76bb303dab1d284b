"""What admins have set right now: tools and prices, read at most once a second.

A driver asks this at every decision; the rows are read again when what is known is
older than `FRESH_S`. One snapshot per process; the loop's thread reads the tables.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from agentops.conf import product
from runs import pricing
from runs.models import Price, Tool
from runs.pricing import Price as PriceValue
from runs.toolbox import Offered, Toolbox
from runs.tools import registry
from runs.tools.base import ToolSpec
from runs.values import AgentConfig, Grant, Policy

FRESH_S = 1.0


@dataclass(frozen=True)
class Live:
    """One reading of the tables."""

    tools: Mapping[str, Tool]
    prices: Mapping[str, PriceValue]
    read_at: float
    _boxes: dict[int, tuple[AgentConfig, Toolbox]] = field(default_factory=dict)

    def toolbox(self, config: AgentConfig) -> Toolbox:
        """What an agent may use at this moment; one for all runs of a version."""
        known = self._boxes.get(id(config))
        if known is None:
            known = self._boxes[id(config)] = config, self._toolbox(config)
        return known[1]

    def _toolbox(self, config: AgentConfig) -> Toolbox:
        specs = {spec.name: spec for spec in registry.all_specs()}
        tools = {
            name: self._offered(specs[name], grant, config)
            for name, grant in config.grants.items()
            if name in specs
        }
        models = {config.model, config.check_model}
        return Toolbox(tools, {model: self.price(model) for model in models})

    def price(self, model: str) -> PriceValue | None:
        return pricing.price_of(model, self.prices)

    def _offered(self, spec: ToolSpec, grant: Grant, config: AgentConfig) -> Offered:
        row = self.tools.get(spec.name) or Tool(name=spec.name)
        numbers = product()
        untrusted = spec.untrusted if row.untrusted is None else row.untrusted
        return Offered(
            spec=spec,
            policy=_stricter(row, grant),
            threshold=_threshold(row, grant, config),
            timeout_s=row.timeout_s or spec.timeout_s or numbers.tool_deadline_s,
            attempts=row.attempts or spec.attempts or numbers.max_attempts,
            result_limit=row.result_limit or numbers.result_to_model_bytes,
            untrusted=untrusted,
            settings={**row.settings, **grant.settings},
        )


def _stricter(row: Tool, grant: Grant) -> Policy:
    if not row.enabled:
        return Policy.BLOCKED
    live = Policy(row.policy) if row.policy else grant.policy
    return max(live, grant.policy, key=lambda policy: policy.strictness)


def _threshold(row: Tool, grant: Grant, config: AgentConfig) -> Decimal:
    granted = config.threshold if grant.threshold is None else grant.threshold
    return granted if row.threshold is None else max(row.threshold, granted)


_lock = threading.Lock()
_live: Live | None = None


def live() -> Live:
    """The reading in force; two queries when it is older than a second."""
    global _live
    with _lock:
        if _live is None or time.monotonic() - _live.read_at > FRESH_S:
            _live = read()
        return _live


def read() -> Live:
    """A fresh reading; two queries."""
    return Live(
        {tool.name: tool for tool in Tool.objects.all()},
        {
            row.model: PriceValue(row.input, row.cached, row.output)
            for row in Price.objects.all()
        },
        time.monotonic(),
    )


def forget() -> None:
    """Read anew at the next question (tests, and after an admin saved)."""
    global _live
    with _lock:
        _live = None
