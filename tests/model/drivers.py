"""Drivers of a history: each holds runs, and dies when it is told to.

They do what `runs.driver.Driver` does with the engine, one call at a time, so that
whatever may come between two of its commits can come there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID

from runs import engine, leases
from runs.engine import Held
from runs.errors import LeaseLost
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
class Death:
    """Where the next process dies: at the so-many-th point of the protocol."""

    after: int = -1

    def reach(self, point: str) -> None:
        if self.after < 0:
            return
        self.after -= 1
        if self.after < 0:
            raise Killed(point)


@dataclass
class Driver:
    """One slot of a host; `perform` carries out an act and tells how it went."""

    slot: int
    perform: Callable[[Work, Turn], Outcome]
    on_begin: Callable[[Held, Work], None]
    is_alive: bool = True
    owner: str = ""
    hands: dict[UUID, Hand] = field(default_factory=dict)

    def start(self) -> None:
        self.is_alive = True
        self.owner = leases.begin(self.slot)

    def die(self) -> None:
        """Without a word: its rows stay as they are until somebody looks."""
        self.is_alive = False
        self.hands.clear()

    def claim(self) -> None:
        while poisoned := leases.claim_poisoned(self.owner):
            engine.park_poison(poisoned, self.owner)
        for run_id in self._claimed():
            if run_id in self.hands:
                continue
            with self._watching(run_id):
                held = engine.open(run_id, self.owner)
                self._next(held, engine.proceed(held))

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
                self.on_begin(hand.held, self.hands[run_id].work)

    def act(self, run_id: UUID, turn: Turn) -> None:
        hand = self.hands[run_id]
        outcome = self.perform(hand.work, turn)
        hand.outcome = replace(outcome, elapsed_ms=turn.takes_s * 1000)

    def record(self, run_id: UUID) -> None:
        hand = self.hands[run_id]
        assert hand.outcome is not None
        with self._watching(run_id):
            self._next(hand.held, engine.record(hand.held, hand.outcome))

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
        except LeaseLost:
            self.hands.pop(run_id, None)
            leases.forfeit([run_id], self.owner)
