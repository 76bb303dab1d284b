"""What all rules of a history share: its world, its drivers, and who there is."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar
from uuid import UUID

from django.contrib.auth.models import User
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from runs.work import Work
from tests.model import people
from tests.model.drivers import Driver
from tests.model.invariants import Rows
from tests.model.said import Turn, turns
from tests.model.tools import outside
from tests.model.world import AGENTS, World

T = TypeVar("T")

MOST_RUNS = 4

many_turns = st.lists(turns, min_size=2, max_size=8)
some = st.sampled_from(range(12))
"""Which of those there are: taken modulo how many they are."""
tried: Counter[str] = Counter()


class Played(RuleBasedStateMachine):
    """A history without rules yet; after each of them all that is promised holds."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.rows = Rows()
        tried["histories"] += 1

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                self.world.settle()
                self._count()
        finally:
            self.world.close()

    @invariant()
    def the_rules_hold(self) -> None:
        self.rows = self.world.look()
        tried["events"] += 1

    # ---- drivers go on

    def _go_on(self, which: int, all_turns: list[Turn]) -> None:
        driver = self._driver(which)
        for turn in all_turns:
            if not driver.hands:
                driver.claim()
            if driver.hands:
                driver.go(pick(driver.held(), which), turn)
            else:
                self._see_to_it_that_something_goes_on(which)

    def _up_to(
        self, which: int, all_turns: list[Turn], is_wanted: Callable[[Work], bool]
    ) -> tuple[Driver, UUID] | None:
        """A driver takes runs forward until one is about to begin such an act."""
        driver = self._driver(which)
        for turn in all_turns:
            for run_id in driver.held():
                hand = driver.hands[run_id]
                if is_wanted(hand.work) and not hand.has_begun:
                    return driver, run_id
            self._go_on(which, [turn])
        return None

    def _see_to_it_that_something_goes_on(self, which: int) -> None:
        rows = Rows()
        if items := rows.waiting("open"):
            review = pick(items, which)
            if people.send(review, self._boss(which), people.kinds(review)[0]):
                for driver in self.world.drivers:  # it may be known to be dead then
                    driver.die()
        elif len(rows.runs) < MOST_RUNS and not which % 2:
            self.world.start(pick([*AGENTS], which))
        else:
            self.world.wait(20)

    # ---- who there is

    def _driver(self, which: int) -> Driver:
        """A living one; one that comes back if there is none."""
        driver = pick(self.world.drivers, which)
        if not driver.is_alive:
            driver.start()
        return driver

    def _other(self, driver: Driver) -> Driver:
        return self._driver(self.world.drivers.index(driver) + 1)

    def _held(self) -> list[tuple[Driver, UUID]]:
        return [(d, run_id) for d in self.world.drivers for run_id in d.held()]

    def _boss(self, who: int) -> User:
        return pick(self.world.bosses, who)

    def _count(self) -> None:
        rows = self.rows
        tried["runs"] += len(rows.runs)
        tried["steps"] += sum(run.sequence for run in rows.runs)
        tried["decisions"] += len(rows.decided())
        tried["acts"] += sum(outside.done.values())


def pick(those: Sequence[T], which: int) -> T:
    return those[which % len(those)]


def is_for_good(work: Work) -> bool:
    return work.is_irreversible


def anything(work: Work) -> bool:
    return True
