"""A driver: one loop that advances many runs at once.

The loop claims due runs, has the engine decide and record, and hands each act to an
I/O thread; only the loop's thread touches our tables (and the heartbeat's, which
keeps the leases). A held run has exactly one act in flight.

    claim ─► open, proceed ─► begin ─► act in a thread ─► record ─┬► begin …
                                                                  └► rest: let go

What goes wrong with one run drops that run and nothing else: its lease is given
back, its claim stays counted. A database that goes away is waited for; what was
done meanwhile is recorded once it is back.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from agentops import log
from agentops.conf import product
from runs import leases, queue, timers
from runs.errors import LeaseLost
from runs.flag import draining
from runs.heart import Heart
from runs.losses import DATABASE_LOST, Patience, takes_writes
from runs.pool import Done, Pool
from runs.slots import Slot
from runs.work import Outcome, Rest, Work

CLAIM_AT_ONCE = 50
# A run due within this time is waited for: the sweep, which finds it too, comes
# once a minute.
NEAR_S = 70.0
# How often it looks for what is near, due timers, suspects and poison.
LOOK_S = 1.0
# After its slice a driver waits so long for acts that are safe to do again.
PATIENCE_S = 30.0
# An act that is this late will not come back.
GRACE_S = 10.0
# A result that a working database refuses so often is given up.
RECORD_TRIES = 10
# After an outage the hearts of all drivers beat within this time and a heartbeat.
RETURN_S = 1.0

logger = logging.getLogger(__name__)


class Engine(Protocol):
    """What a driver needs of `runs.engine`; a test may pass a double."""

    def open(self, run_id: UUID, owner: str) -> Any: ...
    def open_all(self, run_ids: Collection[UUID], owner: str) -> dict[UUID, Any]: ...
    def reopen(self, held: Any) -> Any: ...
    def rejoin(self, held: Any, anew: Any) -> Any: ...
    def proceed(self, held: Any) -> Work | Rest: ...
    def begin(self, held: Any, work: Work) -> Work | Rest: ...
    def record(self, held: Any, outcome: Outcome) -> Work | Rest: ...
    def park_poison(self, run_id: UUID, owner: str) -> None: ...


@dataclass
class Flight:
    """A held run and its act; `overdue_at` is when to stop waiting for it."""

    held: Any
    work: Work
    overdue_at: float


class Driver:
    """Holds a slot and drives due runs until its slice, the work or the day ends.

    `drive` is called once. Times are of `time.monotonic`.
    """

    # How long it looks on when there is nothing near; more than LOOK_S.
    linger_s = 5.0

    def __init__(
        self,
        engine: Engine,
        slot: Slot,
        *,
        is_draining: Callable[[], bool] = draining.is_set,
    ) -> None:
        self._engine = engine
        self._slot = slot
        self._is_draining = is_draining
        self._claimed: deque[UUID] = deque()
        self._flights: dict[UUID, Flight] = {}
        self._results: deque[Done] = deque()
        self._to_release: set[UUID] = set()
        self._to_forfeit: set[UUID] = set()
        self._refused: Counter[UUID] = Counter()
        self._counts = Counter(runs=0, steps=0)
        self._poll_timers = timers.Poll()
        self._is_leaving = False
        self._is_unsure = False
        self.gave_up = False
        self._patience = Patience()
        self._began_at = self._near_at = time.monotonic()
        self._next_claim_at = self._next_look_at = self._next_alone_at = 0.0
        self._pool = Pool(self._capacity())
        self.owner = leases.begin(slot.number)
        self._heart = Heart(self.owner, lambda: len(self._flights))

    def drive(self) -> dict[str, str | int]:
        """Work until there is a reason to leave; frees the slot. Plain JSON."""
        heart = self._heart
        heart.start()
        try:
            while not (reason := self._reason_to_leave()):
                self._bearing_losses(self._work)
            self._leave()
        finally:
            heart.stop()
            self._pool.close()
        heart.join(GRACE_S)
        self._bearing_losses(self._end)
        logger.info(
            "driver in slot %d ends (%s): %d runs, %d steps",
            self._slot.number,
            reason,
            self._counts["runs"],
            self._counts["steps"],
        )
        return {"slot": self._slot.number, "reason": reason, **self._counts}

    # Coming and going

    def _capacity(self) -> int:
        return product().threads

    def _reason_to_leave(self) -> str:
        if self._is_draining():
            return "drain"
        if self._age() >= self._slice_s():
            return "slice"
        is_free = not self._flights and not self._claimed
        if is_free and time.monotonic() - self._near_at >= self.linger_s:
            return "nothing near"
        return ""

    def _age(self) -> float:
        return time.monotonic() - self._began_at

    def _slice_s(self) -> float:
        """Shorter for each further slot, so that not all of them leave at once."""
        return product().drive_slice_s / (1 + 0.25 * (self._slot.number - 1))

    def _leave(self) -> None:
        """Let the acts in flight end, begin no other and give all runs back."""
        self._is_leaving = True
        self._to_release |= set(self._claimed)
        self._claimed.clear()
        began_at, drain_at = time.monotonic(), None
        while self._flights:
            now = time.monotonic()
            if drain_at is None and self._is_draining():
                drain_at = now
            is_late = drain_at is not None and now - drain_at >= product().drain_s
            if is_late or now - began_at >= PATIENCE_S:
                self._release_droppable()
            self._give_up_overdue(now)
            self._bearing_losses(self._take_results)
            self._bearing_losses(self._give_back)

    def _release_droppable(self) -> None:
        done = {done.work.run_id for done in self._results}
        for run_id, flight in list(self._flights.items()):
            if flight.work.is_droppable and run_id not in done:
                self._let_go(run_id)

    def _give_up_overdue(self, now: float) -> None:
        """An act that does not come back is left; its process is not proved dead."""
        for run_id, flight in list(self._flights.items()):
            if now >= flight.overdue_at:
                logger.error("run %s: step %d does not end", run_id, flight.work.step)
                self.gave_up = self.gave_up or not flight.work.is_droppable
                self._drop(run_id)

    def _end(self) -> None:
        self._give_back()
        if not self.gave_up:
            leases.end(self.owner)
            self._slot.free()
        if self._is_near():
            self._wake_successor()

    # One round

    def _work(self) -> None:
        self._take_results()
        self._give_back()
        self._claim()
        now = time.monotonic()
        if now >= self._next_look_at:
            self._next_look_at = now + LOOK_S
            self._look_around(now)

    def _take_results(self) -> None:
        """Record what has come back, as soon as it is there."""
        pause = 0.0 if self._results or self._claimed else product().poll_s
        self._results.extend(self._pool.take(pause))
        while self._results:
            self._record(self._results[0])

    def _claim(self) -> None:
        if self._is_unsure:
            self._give_up_unheard()
        now = time.monotonic()
        if now >= self._next_claim_at:
            claimed = self._claim_some()
            self._counts["runs"] += len(claimed)
            self._claimed.extend(claimed)
            pause = 0.0 if len(claimed) == CLAIM_AT_ONCE else product().poll_s
            self._next_claim_at = now + pause
        opened = self._opened()
        while self._claimed:
            run_id = self._claimed.popleft()
            self._start(run_id, opened.get(run_id))

    def _give_up_unheard(self) -> None:
        """A claim whose answer was lost may have been committed: its runs go back."""
        known = {*self._flights, *self._claimed, *self._to_release}
        self._to_forfeit |= leases.held_by(self.owner) - known
        self._is_unsure = False

    def _opened(self) -> dict[UUID, Any]:
        """What was claimed, read at once; what fails so is opened one by one."""
        if not self._claimed:
            return {}
        try:
            return self._engine.open_all(list(self._claimed), self.owner)
        except DATABASE_LOST:
            raise
        except Exception:
            logger.exception("%d runs cannot be opened together", len(self._claimed))
            return {}

    def _claim_some(self) -> list[UUID]:
        most = min(self._pool.free, CLAIM_AT_ONCE)
        return leases.claim(self.owner, most, takes_over=self._takes_over())

    def _look_around(self, now: float) -> None:
        self._give_up_overdue(now)
        if self._flights or self._is_near():
            self._near_at = now
        self._poll_timers()
        if now >= self._next_alone_at and leases.has_suspects():
            self._next_alone_at = now + product().lease_s
            queue.wake_alone()
        while self._takes_over() and (poisoned := leases.claim_poisoned(self.owner)):
            with self._watching(poisoned):
                self._engine.park_poison(poisoned, self.owner)

    def _is_near(self) -> bool:
        return leases.is_near(NEAR_S)

    def _wake_successor(self) -> None:
        queue.wake()

    # One run

    def _start(self, run_id: UUID, held: Any) -> None:
        if flight := self._flights.get(run_id):
            # Lost and claimed again while its act is in flight: that one counts.
            flight.held = self._engine.rejoin(flight.held, held)
            return
        with self._watching(run_id):
            held = held or self._engine.open(run_id, self.owner)
            self._go_on(run_id, held, self._engine.proceed(held))

    def _record(self, done: Done) -> None:
        run_id, after = done.work.run_id, None
        flight = self._flights.get(run_id)
        if flight is not None and flight.work is done.work:
            with self._watching(run_id, is_repeatable=True):
                after = self._recorded(run_id, flight, done.outcome)
        self._results.popleft()
        if flight is not None and after is not None:
            with self._watching(run_id):
                self._go_on(run_id, flight.held, after)

    def _recorded(
        self, run_id: UUID, flight: Flight, outcome: Outcome | None
    ) -> Work | Rest:
        if outcome is None:
            raise LeaseLost("the act returned nothing")
        if self._refused[run_id]:
            # What was lost with the connection may or may not have been committed.
            flight.held = self._engine.reopen(flight.held)
        after = self._engine.record(flight.held, outcome)
        self._counts["steps"] += 1
        del self._refused[run_id]
        return after

    def _go_on(self, run_id: UUID, held: Any, after: Work | Rest) -> None:
        if isinstance(after, Work):
            if self._is_leaving or self._lets_go_after_step(run_id):
                self._let_go(run_id)
                return
            after = self._engine.begin(held, after)
        if isinstance(after, Rest):
            self._flights.pop(run_id, None)
            return
        overdue_at = time.monotonic() + after.deadline_s + GRACE_S
        self._flights[run_id] = Flight(held, after, overdue_at)
        self._pool.submit(after)

    def _lets_go_after_step(self, run_id: UUID) -> bool:
        return False

    def _let_go(self, run_id: UUID) -> None:
        self._flights.pop(run_id, None)
        self._to_release.add(run_id)

    def _drop(self, run_id: UUID) -> None:
        self._flights.pop(run_id, None)
        self._refused.pop(run_id, None)
        self._to_forfeit.add(run_id)

    def _give_back(self) -> None:
        if self._to_release:
            leases.release(self._to_release, self.owner)
            self._to_release.clear()
        if self._to_forfeit:
            leases.forfeit(self._to_forfeit, self.owner)
            self._to_forfeit.clear()

    # Trouble

    @contextmanager
    def _watching(self, run_id: UUID, *, is_repeatable: bool = False) -> Iterator[None]:
        """Trouble with this run drops it; a lost database is told to the caller."""
        with log.bound(run=run_id):
            try:
                yield
            except LeaseLost as lost:
                logger.info("let go of the run: %s", lost)
                self._drop(run_id)
            except DATABASE_LOST:
                if is_repeatable and self._may_repeat(run_id):
                    raise
                self._drop(run_id)
                raise
            except Exception:
                logger.exception("let go of the run, which could not be advanced")
                self._drop(run_id)

    def _may_repeat(self, run_id: UUID) -> bool:
        """Yes, but not for ever if it is this result that the database refuses."""
        self._refused[run_id] += 1
        is_early = self._refused[run_id] < RECORD_TRIES
        return is_early or not takes_writes(lambda: leases.stamp(self.owner))

    def _bearing_losses(self, act: Callable[[], None]) -> None:
        self._heart.turned()
        if not self._patience.bear(act):
            # What was near before it went away may still be, and claimed unheard.
            self._near_at = time.monotonic()
            self._is_unsure = True

    def _takes_over(self) -> bool:
        """Not right after an outage that outlasted leases: whoever else was cut off
        has answers in hand, and may keep its runs first."""
        return self._patience.rested_s() > product().heartbeat_s + RETURN_S
