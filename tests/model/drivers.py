"""Drivers of a history: each holds runs, and dies when it is told to.

They do what `runs.driver.Driver` does with the engine, one call at a time, so that
whatever may come between two of its commands can come there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Protocol
from uuid import UUID

from runs import engine, leases
from runs.engine import Held
from runs.errors import LeaseLost
from runs.losses import DATABASE_LOST
from runs.values import StepValue
from runs.work import Outcome, Rest, Work
from tests.model.said import Turn


class Killed(BaseException):
    """The process ends here: nothing that comes after happens."""


@dataclass
class Hand:
    """A run in a driver's hands, and how far its act is."""

    held: Held
    work: Work
    has_begun: bool = False
    outcome: Outcome | None = None


@dataclass
class Fate:
    """What comes at the so-many-th point of the protocol, whoever gets there."""

    after: int = -1
    error: type[BaseException] = Killed

    def reach(self, point: str) -> None:
        is_for_processes = point in ("before act", "after act")
        if self.after < 0 or (is_for_processes and self.error is not Killed):
            return
        self.after -= 1
        if self.after < 0:
            raise self.error(point)


class Around(Protocol):
    """Carries out the acts of drivers, and looks at what the engine does with them."""

    def perform(self, work: Work, turn: Turn) -> Outcome: ...
    def look_at_open(self, step: StepValue | None, following: Work | Rest) -> None: ...
    def look_at_begin(self, held: Held, work: Work) -> None: ...
    def look_at_record(self, held: Held, step: int, outcome: Outcome) -> None: ...
    def look_at_death(self, owner: str) -> None: ...


@dataclass
class Driver:
    """One slot of a host."""

    slot: int
    around: Around
    is_alive: bool = True
    owner: str = ""
    hands: dict[UUID, Hand] = field(default_factory=dict)

    def start(self) -> None:
        self.is_alive = True
        self.owner = leases.begin(self.slot)

    def die(self) -> None:
        """Without a word: its rows stay as they are until somebody looks."""
        if self.is_alive:
            self.around.look_at_death(self.owner)
        self.is_alive = False
        self.hands.clear()

    def claim(self) -> None:
        while poisoned := leases.claim_poisoned(self.owner):
            engine.park_poison(poisoned, self.owner)
        for run_id in self._claimed():
            hand = self.hands.get(run_id)
            if hand is not None and hand.has_begun:
                anew = engine.open(run_id, self.owner)
                hand.held = engine.rejoin(hand.held, anew)
                continue
            with self._watching(run_id):
                held = engine.open(run_id, self.owner)
                step = held.current
                following = engine.proceed(held)
                self.around.look_at_open(step, following)
                self._next(held, following)

    def _claimed(self) -> list[UUID]:
        if self.hands:
            return leases.claim(self.owner, 10)
        alone = leases.claim_alone(self.owner)
        return [alone] if alone else leases.claim(self.owner, 10)

    def begin(self, run_id: UUID) -> None:
        hand = self.hands[run_id]
        with self._watching(run_id):
            self._next(hand.held, engine.begin(hand.held, hand.work))
            if run_id in self.hands:
                self.hands[run_id].has_begun = True
                self.around.look_at_begin(hand.held, self.hands[run_id].work)

    def act(self, run_id: UUID, turn: Turn) -> None:
        hand = self.hands[run_id]
        outcome = self.around.perform(hand.work, turn)
        hand.outcome = replace(outcome, elapsed_ms=turn.takes_s * 1000)

    def record(self, run_id: UUID) -> None:
        hand = self.hands[run_id]
        assert hand.outcome is not None
        with self._watching(run_id):
            following = self._recorded(hand, hand.outcome)
            self.around.look_at_record(hand.held, hand.work.step, hand.outcome)
            self._next(hand.held, following)

    def _recorded(self, hand: Hand, outcome: Outcome) -> Work | Rest:
        """Once more if the answer was lost: nobody knows what was committed."""
        try:
            return engine.record(hand.held, outcome)
        except DATABASE_LOST:
            hand.held = engine.reopen(hand.held)
            return engine.record(hand.held, outcome)

    def go(self, run_id: UUID, turn: Turn) -> None:
        """One phase after the other, to the end of the act in hand."""
        if not self.hands[run_id].has_begun:
            self.begin(run_id)
        if run_id in self.hands and self.hands[run_id].outcome is None:
            self.act(run_id, turn)
        if run_id in self.hands:
            self.record(run_id)

    def held(self) -> list[UUID]:
        """The runs in hand, the oldest first."""
        runs = [hand.held.run for hand in self.hands.values()]
        return [run.pk for run in sorted(runs, key=lambda run: run.created_at)]

    def beat(self) -> None:
        """The heart: what was lost to others is dropped, unless it is in flight."""
        kept = leases.beat(self.owner)
        for run_id, hand in list(self.hands.items()):
            if run_id not in kept and not hand.has_begun:
                del self.hands[run_id]

    def let_go(self) -> None:
        """As at a drain: what may be done again is given back as it was."""
        free = [
            run_id
            for run_id, hand in self.hands.items()
            if hand.work.is_droppable or not hand.has_begun
        ]
        for run_id in free:
            del self.hands[run_id]
        leases.release(free, self.owner)

    def _next(self, held: Held, following: Work | Rest) -> None:
        self.hands.pop(held.run_id, None)
        if isinstance(following, Work):
            self.hands[held.run_id] = Hand(held, following)

    @contextmanager
    def _watching(self, run_id: UUID) -> Iterator[None]:
        try:
            yield
        except (LeaseLost, *DATABASE_LOST):
            self.hands.pop(run_id, None)
            self._forfeit(run_id)

    def _forfeit(self, run_id: UUID) -> None:
        try:
            leases.forfeit([run_id], self.owner)
        except DATABASE_LOST:
            leases.forfeit([run_id], self.owner)
