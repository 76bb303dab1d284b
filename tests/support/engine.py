"""A double of the engine for tests of the driver: runs of so many equal steps.

Its commits are real and fenced as the engine's are, so leases and losses are too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from agentops import clock
from runs.errors import LeaseLost
from runs.models import Run
from runs.work import Outcome, Rest, Work


@dataclass
class Held:
    run_id: UUID
    owner: str
    sequence: int


@dataclass
class EngineDouble:
    """`act` is what each step does; what it is asked to do is kept in `calls`."""

    steps: int = 2
    act: Callable[[], Any] = lambda: None
    is_droppable: bool = True
    deadline_s: float = 5.0
    wake_in: float | None = None
    trouble: dict[str, list[Exception]] = field(default_factory=dict)
    calls: list[tuple[str, UUID]] = field(default_factory=list)
    loop_threads: set[int] = field(default_factory=set)

    def count(self, name: str) -> int:
        return [called for called, _ in self.calls].count(name)

    def open(self, run_id: UUID, owner: str) -> Held:
        self._called("open", run_id)
        run = Run.objects.filter(pk=run_id, lease_owner=owner).first()
        if run is None:
            raise LeaseLost
        return Held(run_id, owner, run.sequence)

    def reopen(self, held: Held) -> Held:
        return self.open(held.run_id, held.owner)

    def rejoin(self, held: Held, anew: Held | None) -> Held:
        self._called("rejoin", held.run_id)
        return held

    def open_all(self, run_ids: Collection[UUID], owner: str) -> dict[UUID, Held]:
        """Nothing: then the driver opens each by itself, as the tests want to see."""
        return {}

    def proceed(self, held: Held) -> Work | Rest:
        self._called("proceed", held.run_id)
        return self._next(held)

    def begin(self, held: Held, work: Work) -> Work | Rest:
        self._called("begin", held.run_id)
        return work

    def record(self, held: Held, outcome: Outcome) -> Work | Rest:
        if outcome.step != held.sequence + 1:
            raise LeaseLost
        held.sequence = outcome.step
        self._called("record", held.run_id)
        fence = replace(held, sequence=outcome.step - 1)
        self._commit(fence, sequence=outcome.step, claims=0, claims_alone=0)
        return self._next(held)

    def park_poison(self, run_id: UUID, owner: str) -> None:
        self._called("park_poison", run_id)
        held = Run.objects.filter(pk=run_id, lease_owner=owner)
        held.update(wake_at=None, lease_owner="", lease_until=None)

    def _next(self, held: Held) -> Work | Rest:
        if held.sequence >= self.steps:
            wake_at = self._wake_at()
            self._commit(held, wake_at=wake_at, lease_owner="", lease_until=None)
            return Rest(wake_at)
        return Work(
            run_id=held.run_id,
            step=held.sequence + 1,
            attempt=1,
            act=self.act,
            deadline_s=self.deadline_s,
            is_droppable=self.is_droppable,
        )

    def _wake_at(self) -> datetime | None:
        if self.wake_in is None:
            return None
        return clock.now() + timedelta(seconds=self.wake_in)

    def _commit(self, held: Held, **values: Any) -> None:
        mine = Run.objects.filter(
            pk=held.run_id, lease_owner=held.owner, sequence=held.sequence
        )
        if not mine.update(**values):
            raise LeaseLost

    def _called(self, name: str, run_id: UUID) -> None:
        self.loop_threads.add(threading.get_ident())
        self.calls.append((name, run_id))
        if troubles := self.trouble.get(name):
            raise troubles.pop(0)
