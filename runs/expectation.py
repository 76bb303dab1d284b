"""What to expect of an agent before it starts: cost and time of its last runs,
and what it may do by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from runs import words
from runs.models import Agent, Run, Tool
from runs.states import RunState
from runs.timeline import TOOL_ICONS
from runs.tools import registry
from runs.tools.base import IRREVERSIBLE, titled
from runs.values import Policy

T = TypeVar("T")
LAST = 50
FEW = 3
BARS = 13


@dataclass(frozen=True)
class Column:
    """A column of the picture, in percent and pixels."""

    x: float
    y: float
    height: float
    is_usual: bool


@dataclass(frozen=True)
class Expected:
    """Figures of the last finished runs; money in US dollars, times in seconds."""

    runs: int
    usual: Decimal
    most: Decimal
    dearest: Decimal
    cheapest: Decimal
    work_s: float
    steps: tuple[int, int]
    asked: int
    columns: Sequence[Column]

    @property
    def asks(self) -> str:
        return f"{self.asked} of {self.runs} runs" if self.asked else "none of them"

    @property
    def steps_in_words(self) -> str:
        low, high = self.steps
        return f"{low} steps" if low == high else f"{low} to {high} steps"


def of(agent: Agent) -> Expected | None:
    """None until a few runs have finished; one query."""
    fields = ("cost", "active_ms", "steps_used", "waited_ms")
    done = Run.objects.filter(agent=agent, state=RunState.COMPLETED.value)
    rows = list(done.order_by("-created_at").values_list(*fields)[:LAST])
    if len(rows) < FEW:
        return None
    costs = sorted(row[0] for row in rows)
    times = sorted(row[1] for row in rows)
    steps = sorted(row[2] for row in rows)
    return Expected(
        runs=len(rows),
        usual=_at(costs, 0.5),
        most=_at(costs, 0.9),
        dearest=costs[-1],
        cheapest=costs[0],
        work_s=_at(times, 0.5) / 1000,
        steps=(_at(steps, 0.1), _at(steps, 0.9)),
        asked=sum(row[3] > 0 for row in rows),
        columns=_columns(costs),
    )


def _at(ordered: Sequence[T], share: float) -> T:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def _columns(costs: Sequence[Decimal]) -> list[Column]:
    low, high = costs[0], costs[-1]
    if low == high:
        return []
    counts = [0] * BARS
    for cost in costs:
        counts[min(int((cost - low) / (high - low) * BARS), BARS - 1)] += 1
    tallest = max(counts)
    width = 100 / BARS
    return [
        Column(round(i * width, 1), 50 - h, h, number == tallest)
        for i, number in enumerate(counts)
        if (h := round(number / tallest * 46, 1))
    ]


@dataclass(frozen=True)
class Ability:
    """A tool an agent may use, and when it asks."""

    title: str
    icon: str
    when: str
    what: str
    asks: bool


def abilities(agent: Agent) -> list[Ability]:
    """In the order of the grants; blocked and switched-off tools are left out."""
    live = Tool.objects.in_bulk(list(agent.grants))
    found = [
        _ability(agent, name, grant, live.get(name))
        for name, grant in agent.grants.items()
    ]
    return [ability for ability in found if ability]


def _ability(
    agent: Agent, name: str, grant: dict[str, object], row: Tool | None
) -> Ability | None:
    policy = Policy(str(grant.get("policy", Policy.ASK_BELOW)))
    if row is not None and row.policy:
        policy = max(policy, Policy(row.policy), key=lambda p: p.strictness)
    if policy is Policy.BLOCKED or (row is not None and not row.enabled):
        return None
    effect, description = _of_spec(name)
    asks = policy is Policy.ALWAYS or (
        policy is Policy.ASK_BELOW and effect == IRREVERSIBLE
    )
    threshold = grant.get("threshold") or agent.threshold
    when = "always asks" if policy is Policy.ALWAYS else "by itself"
    if asks and policy is Policy.ASK_BELOW:
        when = f"asks below {words.percent(Decimal(str(threshold)))}"
    return Ability(titled(name), TOOL_ICONS.get(name, "tool"), when, description, asks)


def _of_spec(name: str) -> tuple[str, str]:
    """(effect, first sentence) of a registered tool; blanks for one that is gone."""
    try:
        spec = registry.get(name)
    except KeyError:
        return "", "Not installed here"
    first = spec.description.split(". ")[0].rstrip(".")
    can_undo = "Cannot be undone. " if spec.effect == IRREVERSIBLE else ""
    return spec.effect.value, f"{can_undo}{first}"
