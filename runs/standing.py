"""How a run stands, in words and figures: state, what it does now, budgets, plan.

Pure but for the rows it is given; nothing here asks the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from agentops import clock
from agentops.conf import product
from runs import words
from runs.blocks import asked
from runs.canonical import Json, shorten
from runs.models import Attempt, Run, Step
from runs.states import ParkReason, RunState, StepKind, StepStatus
from runs.tools.base import titled

NEARLY = 0.8
TONES = {
    RunState.AWAITING_HUMAN: "wait",
    RunState.COMPLETED: "good",
    RunState.ERROR: "bad",
    RunState.ABORTED: "bad",
}
ICONS = {
    RunState.IDLE: "clock",
    RunState.AWAITING_HUMAN: "pause",
    RunState.COMPLETED: "good",
    RunState.ERROR: "error",
    RunState.ABORTED: "stop",
}
BAD_REASONS = frozenset(
    {
        ParkReason.FATAL,
        ParkReason.RETRIES,
        ParkReason.OUTCOME_UNKNOWN,
        ParkReason.POISON,
        ParkReason.REFUSED,
        ParkReason.INVALID_CALLS,
    }
)
PLAN_TONES = {"done": ("good", "tick"), "dropped": ("", "drop"), "open": ("", "dot")}


@dataclass(frozen=True)
class Chip:
    tone: str
    icon: str
    label: str


def chip(run: Run) -> Chip:
    """The run's state as the coloured word that names it everywhere."""
    state = RunState(run.state)
    tone = TONES.get(state, "run")
    label = state.label.capitalize()
    if state is RunState.AWAITING_HUMAN:
        reason = ParkReason(run.park_reason) if run.park_reason else None
        tone = "bad" if reason in BAD_REASONS else tone
        label = f"Parked, {reason.label.lower()}" if reason else label
    return Chip(tone, ICONS.get(state, "run"), label)


def doing(run: Run, step: Step | None, tries: Sequence[Attempt] = ()) -> str:
    """What the run is doing at this moment, or waits for; "" once it is final.

    `step` is its newest one, `tries` that step's failed attempts.
    """
    state = RunState(run.state)
    if state.is_final:
        return ""
    if state is RunState.AWAITING_HUMAN:
        return str((run.park or {}).get("question", "A person is asked."))
    if state is RunState.COMPLETING:
        return "Delivering the result"
    if run.wake_at and run.wake_at > clock.now():
        retrying = _waiting_for_retry(run, tries[-1], step) if tries else ""
        return retrying or _waiting(run.wake_at)
    if _is_unheld(run):
        return "Waiting for a worker"
    return _acting(step)


def _is_unheld(run: Run) -> bool:
    return run.lease_until is None or run.lease_until < clock.now()


def _waiting(wake_at: datetime) -> str:
    """A decision that may still be taken back, or a retry whose tries are not known."""
    seconds = (wake_at - clock.now()).total_seconds()
    return f"Goes on in {words.coarse(max(seconds, 0))}"


def _waiting_for_retry(run: Run, last: Attempt, step: Step | None) -> str:
    in_s = max((last.retry_at - clock.now()).total_seconds(), 0)
    why = last.error_text.splitlines()[0] if last.error_text else last.error_class
    number = words.count(last.number)
    most = product().max_attempts
    wait = words.coarse(in_s)
    return f"Retry {number} of {most - 1} in {wait}: {shorten(why, 200)}"


def _acting(step: Step | None) -> str:
    if step is None:
        return "Starting"
    name = titled(step.name)
    checked = titled(str(asked(step).get("tool", step.name)))
    acts = {
        StepKind.PLAN: "The model writes the plan",
        StepKind.MODEL: "The model is thinking",
        StepKind.TOOL: f"{name} is running",
        StepKind.CHECK: f"{checked} is being checked before it runs",
        StepKind.DECISION: "Taking a person's decision in",
        StepKind.COMPACTION: "Shortening old results to fit the model's window",
    }
    took = words.between(step.started_at or step.planned_at, clock.now())
    so_far = f", {words.duration(took)} so far" if took and took > 1 else ""
    return f"Step {step.number}: {acts[StepKind(step.kind)]}{so_far}"


@dataclass(frozen=True)
class Meter:
    """One budget: `value`, `high` and `most` in the meter's own unit."""

    label: str
    used: str
    limit: str
    reserved: str
    value: float
    most: float
    hint: str = ""

    @property
    def high(self) -> float:
        return self.most * NEARLY

    @property
    def is_reached(self) -> bool:
        return bool(self.limit) and self.value >= self.most

    @property
    def share(self) -> str:
        return words.percent(round(self.value / self.most, 2)) if self.most else ""


def meters(run: Run, step: Step | None = None) -> list[Meter]:
    """The four budgets, with what the open step has reserved."""
    open_step = step if step and StepStatus(step.status).is_open else None
    held_cost = open_step.reserved_cost if open_step else Decimal(0)
    held_tokens = open_step.reserved_tokens if open_step else 0
    limits: dict[str, Json] = run.limits or {}
    return [
        replace(
            _meter("Steps", run.steps_used, limits.get("steps"), words.count),
            hint=_beside_the_budget(run),
        ),
        _meter(
            "Active time", run.active_ms / 1000, limits.get("seconds"), words.duration
        ),
        _meter("Money", run.cost, limits.get("money"), words.money, held_cost),
        _meter("Tokens", run.tokens, limits.get("tokens"), words.count, held_tokens),
    ]


def _beside_the_budget(run: Run) -> str:
    """Why a run that rests has more steps than it has used of its budget."""
    if run.sequence <= run.steps_used or RunState(run.state).is_active:
        return ""
    steps = words.plural(run.sequence, "step")
    return f"{steps} in all: decisions and what was not carried out are free"


def _meter(label: str, used: Any, limit: Json, show: Any, reserved: Any = 0) -> Meter:
    most = Decimal(str(limit)) if limit is not None else None
    shown = most if label == "Money" or most is None else int(most)
    return Meter(
        label=label,
        used=show(used),
        limit="" if most is None else show(shown),
        reserved=show(reserved) if reserved else "",
        value=float(used),
        most=float(most or 0),
    )


@dataclass(frozen=True)
class PlanItem:
    text: str
    reason: str
    tone: str
    icon: str
    status: str


@dataclass(frozen=True)
class Plan:
    items: Sequence[PlanItem]
    revision: int

    @property
    def done(self) -> int:
        return sum(item.status == "done" for item in self.items)

    @property
    def in_words(self) -> str:
        dropped = sum(item.status == "dropped" for item in self.items)
        rest = f", {dropped} dropped" if dropped else ""
        return f"{self.done} of {len(self.items)} done{rest}"


def plan_of(run: Run, step: Step | None = None) -> Plan:
    """The plan with the item being worked on marked (items count from 1)."""
    state = RunState(run.state)
    active = step.plan_item if step and not state.is_final else None
    mark = ("wait", "pause") if state is RunState.AWAITING_HUMAN else ("run", "run")
    items = [
        _plan_item(item, mark if place == active else None)
        for place, item in enumerate(run.plan, start=1)
    ]
    return Plan(items, run.plan_revision)


def _plan_item(item: Json, active: tuple[str, str] | None) -> PlanItem:
    status = str(item.get("status", "open"))
    tone, icon = PLAN_TONES.get(status, PLAN_TONES["open"])
    if status == "open" and active:
        tone, icon = active
    reason = str(item.get("reason") or "")
    return PlanItem(str(item.get("text", "")), reason, tone, icon, status)
