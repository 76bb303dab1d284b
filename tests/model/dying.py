"""Processes die, leases and answers are lost, time passes."""

from __future__ import annotations

from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import rule

from reviews.restored import mark_all
from runs.leases import POISON_AFTER, SUSPECT_AFTER
from runs.models import Run
from tests.model import people
from tests.model.drivers import Driver
from tests.model.invariants import Rows
from tests.model.played import (
    Played,
    anything,
    is_for_good,
    many_turns,
    pick,
    some,
)
from tests.model.said import Turn, turns


class Dying(Played):
    """Whatever happens to processes, at any moment."""

    @rule(which=some, turn=turns, after=st.integers(0, 14))
    def a_driver_dies_at_work(self, which: int, turn: Turn, after: int) -> None:
        held = self._held()
        driver = pick(held, which)[0] if held else self._driver(which)
        with self.world.dying(after):
            for run_id in driver.held():
                driver.go(run_id, turn)
            driver.claim()
        driver.die()

    @rule(which=some, all_turns=many_turns, after=st.integers(0, 10))
    def a_driver_dies_in_an_act(
        self, which: int, all_turns: list[Turn], after: int
    ) -> None:
        """Wherever it is with the next call that is for good."""
        found = self._up_to(which, all_turns, is_for_good)
        if found is None:
            return
        driver, run_id = found
        with self.world.dying(after):
            driver.go(run_id, all_turns[-1])
        driver.die()
        self.world.wait(20)

    @rule(which=some, turn=turns)
    def runs_end_their_drivers(self, which: int, turn: Turn) -> None:
        """Each that takes them up dies, until somebody looks whose fault it is."""
        before = dict(Run.objects.values_list("pk", "sequence"))
        # once right after a step, then with several in hand, then each of them alone
        deaths = 1 + SUSPECT_AFTER + POISON_AFTER * len(before)
        for _ in range(deaths):
            self._driver(which).claim()
            self._driver(which).die()
        driver = self._driver(which)
        driver.claim()
        for hand in driver.hands.values():
            run = hand.held.run
            is_further = hand.work.step > before[run.pk]
            assert is_further, f"{run} has ended {deaths} drivers and goes on"

    @rule(which=some, all_turns=many_turns, after=st.integers(0, 8))
    def the_database_goes_away(
        self, which: int, all_turns: list[Turn], after: int
    ) -> None:
        """For a moment: what was being committed then may be, or not."""
        found = self._up_to(which, all_turns, anything)
        if found is None:
            return
        driver, run_id = found
        with self.world.losing_the_database(after):
            driver.go(run_id, all_turns[-1])

    @rule(which=some, all_turns=many_turns, has_acted=st.booleans())
    def a_lease_is_lost_in_an_act(
        self, which: int, all_turns: list[Turn], has_acted: bool
    ) -> None:
        """Its driver stood still too long; another has the run, then it goes on."""
        found = self._lost_in_an_act(which, all_turns, has_acted)
        if found is None:
            return
        driver, other, run_id = found
        if run_id in other.hands:
            other.go(run_id, all_turns[-1])
        if run_id in driver.hands:
            driver.go(run_id, all_turns[-1])
        self._go_on(which + 1, all_turns)

    @rule(which=some, all_turns=many_turns, is_honest=st.booleans())
    def what_came_late_is_asked_for(
        self, which: int, all_turns: list[Turn], is_honest: bool
    ) -> None:
        """The run is resumed when the ledger knows already what became of the act."""
        found = self._lost_in_an_act(which, all_turns, has_acted=False)
        if found is None:
            return
        driver, other, run_id = found
        if run_id in other.hands:
            other.go(run_id, Turn(mood="busy"))
        if run_id in driver.hands:
            driver.go(run_id, Turn())
        driver.die()
        asked = [r for r in Rows().waiting("open") if r.run_id == run_id]
        for review in asked:
            if "outcome" in people.kinds(review):
                who = self._boss(which)
                people.send(review, who, "outcome", is_honest=is_honest)
        self._go_on(which, all_turns)

    def _lost_in_an_act(
        self, which: int, all_turns: list[Turn], has_acted: bool
    ) -> tuple[Driver, Driver, UUID] | None:
        """Who began it, who has it since, and the run."""
        found = self._up_to(which, all_turns, is_for_good)
        if found is None:
            return None
        driver, run_id = found
        other = self._other(driver)
        driver.begin(run_id)
        if has_acted and run_id in driver.hands:
            driver.act(run_id, all_turns[-1])
        self.world.wait(20, with_hearts=False)
        other.claim()
        return driver, other, run_id

    @rule(which=some, all_turns=many_turns, steps=st.integers(1, 2))
    def a_driver_gets_back_what_it_had(
        self, which: int, all_turns: list[Turn], steps: int
    ) -> None:
        """Its act is in flight still, though another has gone on since: too late."""
        found = self._up_to(which, all_turns, anything)
        if found is None:
            return
        driver, run_id = found
        other, turn = self._other(driver), all_turns[-1]
        driver.begin(run_id)
        self.world.wait(20, with_hearts=False)
        other.claim()
        for _ in range(steps):
            if run_id in other.hands:
                other.go(run_id, turn)
        other.let_go()
        driver.claim()
        if run_id in driver.hands:
            driver.go(run_id, turn)

    @rule(which=some, how=st.sampled_from(["dies", "lets go", "comes back"]))
    def a_driver_comes_or_goes(self, which: int, how: str) -> None:
        driver = pick(self.world.drivers, which)
        if not driver.is_alive:
            driver.start()
        elif how == "dies":
            driver.die()
        elif how == "lets go":
            driver.let_go()

    @rule(is_so=st.sampled_from([True, False, False]))
    def a_backup_is_restored(self, is_so: bool) -> None:
        """One that is as new as can be: all processes end, and all runs are marked."""
        if is_so:
            for driver in self.world.drivers:
                driver.die()
            mark_all()

    @rule(seconds=st.sampled_from([1, 6, 16, 16, 90]), with_hearts=st.booleans())
    def time_passes(self, seconds: int, with_hearts: bool) -> None:
        self.world.wait(seconds, with_hearts=with_hearts)
