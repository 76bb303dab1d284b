"""A history: what drivers, models, tools, crashes and people do, one event at a time."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import suppress
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from agentops import clock
from reviews import claims, expiring
from reviews.models import Decision, Review
from reviews.restored import mark_all
from reviews.stale import StaleReview, is_held_by_another
from reviews.undo import undo
from runs import forking, policy, services
from runs.errors import Stale
from runs.models import Tool
from tests.model import people
from tests.model.drivers import Driver
from tests.model.invariants import Rows
from tests.model.said import TOOLS, Turn, turns
from tests.model.tools import outside
from tests.model.world import AGENTS, World

MOST_RUNS = 4
SETTINGS: list[dict[str, Any]] = [
    {"enabled": False},
    {"enabled": True},
    {"threshold": "0.95"},
    {"threshold": None},
    {"policy": "always"},
    {"policy": ""},
    {"undo_s": 60},
    {"undo_s": 0},
    {"settings": {"from": "here"}},
]

agents = st.sampled_from([*AGENTS])
many_turns = st.lists(turns, min_size=2, max_size=8)
some = st.sampled_from(range(12))
"""Which of those there are: taken modulo how many they are."""
tried: Counter[str] = Counter()


class History(RuleBasedStateMachine):
    """One history: each rule is one thing that somebody does, or that happens."""

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

    # ---- drivers take runs forward

    @initialize(agent=agents, all_turns=many_turns)
    def a_run_begins(self, agent: str, all_turns: list[Turn]) -> None:
        self.world.start(agent)
        self._go_on(0, all_turns)

    @rule(which=some, all_turns=many_turns)
    def a_run_goes_on(self, which: int, all_turns: list[Turn]) -> None:
        self._go_on(which, all_turns)

    @rule(which=some, all_turns=many_turns)
    def a_run_goes_on_in_time(self, which: int, all_turns: list[Turn]) -> None:
        """After whatever it waited for: a retry, or the end of a window."""
        self.world.wait(130)
        self._go_on(which, all_turns)

    @rule(which=some, turn=turns)
    def a_driver_takes_one_look(self, which: int, turn: Turn) -> None:
        """It claims, begins a call, makes it, or records it: no more than that."""
        held = self._held()
        if not held:
            self._driver(which).claim()
            return
        driver, run_id = _pick(held, which)
        hand = driver.hands[run_id]
        if not hand.has_begun:
            driver.begin(run_id)
        elif hand.outcome is None:
            driver.act(run_id, turn)
        else:
            driver.record(run_id)

    @rule(which=some)
    def another_driver_claims(self, which: int) -> None:
        self._driver(which).claim()

    # ---- processes die, leases are lost, time passes

    @rule(which=some, turn=turns, after=st.integers(0, 14))
    def a_driver_dies_at_work(self, which: int, turn: Turn, after: int) -> None:
        held = self._held()
        driver = _pick(held, which)[0] if held else self._driver(which)
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
        found = self._up_to_an_act(which, all_turns)
        if found is None:
            return
        driver, run_id = found
        with self.world.dying(after):
            driver.go(run_id, all_turns[-1])
        driver.die()
        self.world.wait(20)

    @rule(which=some, all_turns=many_turns, has_acted=st.booleans())
    def a_lease_is_lost_in_an_act(
        self, which: int, all_turns: list[Turn], has_acted: bool
    ) -> None:
        """Its driver stood still too long; another has the run, then it goes on."""
        found = self._up_to_an_act(which, all_turns)
        if found is None:
            return
        driver, run_id = found
        other = self._driver(self.world.drivers.index(driver) + 1)
        driver.begin(run_id)
        if has_acted and run_id in driver.hands:
            driver.act(run_id, all_turns[-1])
        self.world.wait(20, with_hearts=False)
        other.claim()
        if run_id in other.hands:
            other.go(run_id, all_turns[-1])
        if run_id in driver.hands:
            driver.go(run_id, all_turns[-1])

    @rule(which=some, how=st.sampled_from(["dies", "lets go", "comes back"]))
    def a_driver_comes_or_goes(self, which: int, how: str) -> None:
        driver = _pick(self.world.drivers, which)
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

    # ---- people

    @precondition(lambda self: self.rows.waiting())
    @rule(which=some, who=some, what=some, is_honest=st.booleans())
    def a_person_decides(
        self, which: int, who: int, what: int, is_honest: bool
    ) -> None:
        review = _pick(self.rows.waiting(), which)
        kind = _pick(people.kinds(review), what)
        people.send(review, self._boss(who), kind, is_honest=is_honest)

    @precondition(lambda self: self.rows.waiting("open"))
    @rule(which=some, who=some, all_turns=many_turns)
    def a_person_lets_it_go_on(
        self, which: int, who: int, all_turns: list[Turn]
    ) -> None:
        """By the first kind that is offered, as most people do most times."""
        review = _pick(self.rows.waiting("open"), which)
        people.send(review, self._boss(who), people.kinds(review)[0])
        self._go_on(which, all_turns)

    @precondition(lambda self: self.rows.waiting("open"))
    @rule(which=some, who=some, what=some, other=some)
    def two_decide_at_once(self, which: int, who: int, what: int, other: int) -> None:
        """Both saw the same; the second is told so, or had said the very same."""
        first = _pick(self.rows.waiting("open"), which)
        second = Review.objects.select_related("run__agent").get(pk=first.pk)
        kinds = people.kinds(first)
        refused = people.send(first, self._boss(who), _pick(kinds, what))
        late = people.send(second, self._boss(who + 1), _pick(kinds, other))

        assert refused or isinstance(late, StaleReview), "both of two decided"

    @precondition(lambda self: self.rows.waiting())
    @rule(which=some, who=some, what=some, after=st.integers(0, 10))
    def a_web_process_dies(self, which: int, who: int, what: int, after: int) -> None:
        review = _pick(self.rows.waiting(), which)
        with self.world.dying(after):
            people.send(review, self._boss(who), _pick(people.kinds(review), what))

    @precondition(lambda self: self.rows.waiting("open"))
    @rule(which=some, who=some, what=some, pause_s=st.sampled_from([0, 0, 3, 6]))
    def a_person_thinks_again(
        self, which: int, who: int, what: int, pause_s: int
    ) -> None:
        review = _pick(self.rows.waiting("open"), which)
        if people.send(review, self._boss(who), _pick(people.kinds(review)[:2], what)):
            return
        made = Rows().decided()[0]
        self.world.wait(pause_s)
        self._driver(which).claim()
        self._take_back(made)

    @precondition(lambda self: self.rows.waiting("open"))
    @rule(which=some, who=some)
    def a_person_holds_an_item(self, which: int, who: int) -> None:
        review, boss = _pick(self.rows.waiting("open"), which), self._boss(who)
        is_taken = is_held_by_another(review, boss, clock.now())
        try:
            claims.claim(review.pk, by=boss)
        except StaleReview:
            assert is_taken
        else:
            assert not is_taken

    @precondition(lambda self: self.rows.decided())
    @rule(which=some)
    def a_person_takes_it_back(self, which: int) -> None:
        self._take_back(_pick(self.rows.decided()[:2], which))

    def _take_back(self, made: Decision) -> None:
        """In time it is taken back, later it is refused; never the other way round."""
        is_over = made.effective_at <= clock.now() or made.undone_at is not None
        with suppress(StaleReview):
            undo(made.review_id, by=made.actor, decision_id=made.pk)
            assert not is_over, "taken back after it took effect"

    @rule(which=some, who=some)
    def nobody_answers_in_time(self, which: int, who: int) -> None:
        """Or somebody asks again what nobody answered."""
        expired = self.rows.waiting("expired")
        if not expired:
            self.world.wait(3600)
            expiring.expire()
            return
        with suppress(StaleReview):
            expiring.ask_again(_pick(expired, which).pk, by=self._boss(who))

    # ---- and others interfere

    @precondition(lambda self: len(self.rows.runs) < MOST_RUNS)
    @rule(agent=agents)
    def another_run_begins(self, agent: str) -> None:
        self.world.start(agent)

    @precondition(lambda self: len(self.rows.runs) < MOST_RUNS)
    @rule(which=some, place=some)
    def a_run_is_forked(self, which: int, place: int) -> None:
        run = _pick(self.rows.runs, which)
        if places := forking.places(run):
            with suppress(Stale):
                number = _pick(places, place).number
                forking.fork(run.pk, number, by=self._boss(0))

    @rule(which=st.sampled_from(range(6 * MOST_RUNS)))
    def who_asked_for_it_aborts_it(self, which: int) -> None:
        if which >= len(self.rows.runs):
            return
        run = self.rows.runs[which]
        try:
            services.cancel(run.pk, by=self.world.asker, reason="Not any more.")
        except Stale:
            assert run.finished_at is not None or run.state == "completing"

    @rule(name=st.sampled_from(TOOLS), fields=st.sampled_from(SETTINGS))
    def an_admin_changes_a_tool(self, name: str, fields: dict[str, Any]) -> None:
        Tool.objects.update_or_create(name=name, defaults=fields)
        policy.forget()

    # ---- who there is

    def _go_on(self, which: int, all_turns: list[Turn]) -> None:
        driver = self._driver(which)
        for turn in all_turns:
            if not driver.hands:
                driver.claim()
            if driver.hands:
                driver.go(_pick(driver.held(), which), turn)
            else:
                self._see_to_it_that_something_goes_on(which)

    def _up_to_an_act(
        self, which: int, all_turns: list[Turn]
    ) -> tuple[Driver, UUID] | None:
        """A driver takes runs forward until one is about to act for good."""
        driver = self._driver(which)
        for turn in all_turns:
            for run_id in driver.held():
                hand = driver.hands[run_id]
                if hand.work.is_irreversible and not hand.has_begun:
                    return driver, run_id
            self._go_on(which, [turn])
        return None

    def _see_to_it_that_something_goes_on(self, which: int) -> None:
        rows = Rows()
        if items := rows.waiting("open"):
            review = _pick(items, which)
            if people.send(review, self._boss(which), people.kinds(review)[0]):
                for driver in self.world.drivers:  # it may be known to be dead then
                    driver.die()
        elif len(rows.runs) < MOST_RUNS and not which % 2:
            self.world.start(_pick([*AGENTS], which))
        else:
            self.world.wait(20)

    def _driver(self, which: int) -> Driver:
        """A living one; one that comes back if there is none."""
        driver = _pick(self.world.drivers, which)
        if not driver.is_alive:
            driver.start()
        return driver

    def _held(self) -> list[tuple[Driver, UUID]]:
        return [(d, run_id) for d in self.world.drivers for run_id in d.held()]

    def _boss(self, who: int) -> Any:
        return _pick(self.world.bosses, who)

    def _count(self) -> None:
        rows = self.rows
        tried["runs"] += len(rows.runs)
        tried["steps"] += sum(run.sequence for run in rows.runs)
        tried["decisions"] += len(rows.decided())
        tried["acts"] += sum(outside.done.values())


def _pick(those: Any, which: int) -> Any:
    return those[which % len(those)]
