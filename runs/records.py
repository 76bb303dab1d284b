"""The values that one commit of the step protocol is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import F

from runs.canonical import Json
from runs.facts import NewStep
from runs.models import Effect, Run, Step
from runs.states import EffectStatus, RunState, StepKind, StepStatus
from runs.values import Park, StepValue


@dataclass(frozen=True)
class Fence:
    """Who may write, and after which step: the WHERE of every commit.

    A driver's fence has its lease `owner`; a person's has none and holds only while
    the run waits for a person (`state`).
    """

    run_id: UUID
    sequence: int
    owner: str = ""
    state: RunState | None = None

    @property
    def where(self) -> dict[str, Any]:
        where = {"id": self.run_id, "sequence": self.sequence}
        where["lease_owner"] = self.owner
        if self.state is not None:
            where["state"] = self.state.value
        return where


@dataclass(frozen=True)
class Result:
    """What an open step came to."""

    number: int
    status: StepStatus
    response: Json
    finished_at: datetime
    started_at: datetime | None = None
    error_class: str = ""
    error_text: str = ""
    confidence: Decimal | None = None
    attempts: int = 1
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    is_estimated: bool = False


@dataclass(frozen=True)
class Planned:
    """The next step, as it is inserted; a decision is inserted finished."""

    number: int
    kind: StepKind
    state: RunState
    name: str
    request: Json
    planned_at: datetime
    digest: str = ""
    plan_item: int | None = None
    reserved_tokens: int = 0
    reserved_cost: Decimal = Decimal(0)
    status: StepStatus = StepStatus.PLANNED
    response: Json = None

    def as_value(self) -> StepValue:
        """The step as the planner sees it."""
        return StepValue(
            number=self.number,
            kind=self.kind,
            status=self.status,
            name=self.name,
            request=self.request,
            response=self.response,
            plan_item=self.plan_item,
            reserved_tokens=self.reserved_tokens,
            reserved_cost=self.reserved_cost,
        )


RESTORE = "of before the backup"
"""Who started, in the ledger, what may have happened after a backup was taken."""
BAD = frozenset({StepStatus.FAILED, StepStatus.OUTCOME_UNKNOWN})
RELEASED: dict[str, Any] = {"lease_owner": "", "lease_until": None, "wake_at": None}
"""The columns of a run that no driver has anything to do with."""


def planned(new: NewStep, number: int, now: datetime) -> Planned:
    """The planner's step as a row to insert."""
    return Planned(
        number=number,
        kind=new.kind,
        state=new.state,
        name=new.name,
        request=new.request,
        planned_at=now,
        digest=new.digest,
        plan_item=new.plan_item,
        reserved_tokens=new.reservation.tokens,
        reserved_cost=new.reservation.money,
    )


def started(run: Run, step: StepValue | Step, owner: str, now: datetime) -> Effect:
    """The ledger's row of the irreversible call that a step begins; not saved."""
    request: Any = step.request
    return Effect(
        key=request["key"],
        root_id=run.root_id or run.pk,
        run_id=run.pk,
        step_number=step.number,
        tool=step.name,
        arguments_digest=request["seal"]["arguments"],
        occurrence=request["occurrence"],
        status=EffectStatus.STARTED.value,
        owner=owner,
        started_at=now,
    )


def parked(park: Park, now: datetime) -> dict[str, Any]:
    """The columns of a run that waits for a person, no lease on it."""
    return RELEASED | {
        "park_reason": park.reason.value,
        "park": park.as_json(),
        "parked_at": now,
    }


def unparked(run: Run, now: datetime) -> dict[str, Any]:
    """The columns of a run that waits no longer; the wait is not active time."""
    waited = now - run.parked_at if run.parked_at else timedelta()
    return {
        "park_reason": "",
        "park": None,
        "parked_at": None,
        "waited_ms": F("waited_ms") + round(waited.total_seconds() * 1000),
    }


def effect_of(status: StepStatus) -> EffectStatus:
    """How the ledger reads once an irreversible call's step has this status."""
    return {
        StepStatus.SUCCEEDED: EffectStatus.DONE,
        StepStatus.OUTCOME_UNKNOWN: EffectStatus.UNKNOWN,
    }.get(status, EffectStatus.NOT_DONE)


@dataclass(frozen=True)
class Delta:
    """What is added to the run's counters. `active_ms` counts retry waits too."""

    steps: int = 0
    active_ms: int = 0
    tokens: int = 0
    cost: Decimal = Decimal(0)
    is_estimated: bool = False


Settled = tuple[str, EffectStatus, Json]
"""What the ledger's row of a key becomes: its status, and the result to give."""


@dataclass(frozen=True)
class Move:
    """A change of state: who (`by` is a person's id) and why."""

    old: RunState
    new: RunState
    reason: str
    actor: str
    at: datetime
    by: int | None = None


@dataclass(frozen=True)
class Record:
    """One commit. `fields` are further columns of the run (park, plan, output …)."""

    fence: Fence
    result: Result | None = None
    steps: tuple[Planned, ...] = ()
    delta: Delta = field(default_factory=Delta)
    moves: tuple[Move, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    effect: Settled | None = None

    @property
    def marks(self) -> dict[str, Any]:
        """The columns by which lists find the run, where this changes them."""
        marks: dict[str, Any] = {}
        if self.result is not None and self.result.status in BAD:
            marks["had_error"] = True
        if self.moves and self.moves[-1].new.is_final:
            marks["outcome"] = self.moves[-1].new.value
        if self.moves and self.moves[-1].new is RunState.ERROR:
            marks["had_error"] = True
        return marks

    @property
    def sequence(self) -> int:
        return self.steps[-1].number if self.steps else self.fence.sequence
