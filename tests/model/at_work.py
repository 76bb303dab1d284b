"""Runs begin and go on, admins change tools, and what was done is done once more."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from runs import forking, services
from runs.errors import Stale
from runs.models import Effect, Run, Step
from runs.work import CallTool, Reconcile, Work
from tests.model.played import MOST_RUNS, Played, many_turns, pick, some
from tests.model.said import TOOLS, Call, Reply, Turn, turns
from tests.model.world import AGENTS

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
AS_IT_WAS = {"enabled": True, "policy": "", "threshold": None}
STRICTER: list[dict[str, Any]] = [
    {"enabled": False},
    {"enabled": False},
    {"policy": "always"},
    {"threshold": "0.95"},
]

agents = st.sampled_from([*AGENTS])


class AtWork(Played):
    """All goes well here, or as well as models, tools and admins let it."""

    @initialize(agent=agents, all_turns=many_turns)
    def a_run_begins(self, agent: str, all_turns: list[Turn]) -> None:
        self.world.start(agent)
        self._go_on(0, all_turns)

    @precondition(lambda self: len(self.rows.runs) < MOST_RUNS)
    @rule(agent=agents)
    def another_run_begins(self, agent: str) -> None:
        self.world.start(agent)

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
        driver, run_id = pick(held, which)
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

    @rule(name=st.sampled_from(TOOLS), fields=st.sampled_from(SETTINGS))
    def an_admin_changes_a_tool(self, name: str, fields: dict[str, Any]) -> None:
        self.world.switch(name, **fields)

    @rule(
        which=some,
        all_turns=many_turns,
        fields=st.sampled_from(STRICTER),
        is_for_long=st.booleans(),
    )
    def a_tool_is_forbidden_before_its_call(
        self,
        which: int,
        all_turns: list[Turn],
        fields: dict[str, Any],
        is_for_long: bool,
    ) -> None:
        """Between the plan and the call; some admins think better of it at once."""
        found = self._up_to(which, all_turns, is_call)
        if found is None:
            return
        driver, run_id = found
        step = Step.objects.get(run_id=run_id, number=driver.hands[run_id].work.step)
        if step.name not in TOOLS:
            return
        self.world.switch(step.name, **fields)
        driver.go(run_id, all_turns[-1])
        if not is_for_long:
            self.world.switch(step.name, **AS_IT_WAS)

    @precondition(lambda self: len(self.rows.runs) < MOST_RUNS)
    @rule(which=some, place=some)
    def a_run_is_forked(self, which: int, place: int) -> None:
        run = pick(self.rows.runs, which)
        if places := forking.places(run):
            with suppress(Stale):
                number = pick(places, place).number
                forking.fork(run.pk, number, by=self._boss(0))

    @precondition(lambda self: self.rows.effects and len(self.rows.runs) < MOST_RUNS)
    @rule(which=some, who=some)
    def a_fork_wants_what_was_done(self, which: int, who: int) -> None:
        """The very call, as if nothing had happened; the ledger knows better."""
        effect = pick(self.rows.effects, which)
        with suppress(Stale):
            services.cancel(effect.run_id, by=self.world.asker, reason="Once more.")
        fork = self._forked_before(effect)
        if fork is None:
            return
        self.world.wait(130)
        what = str(self._step_of(effect).request["arguments"]["what"])
        same = Turn(Reply("calls", (Call(effect.tool, what),)))
        self._go_on(who, [same] * 6)

    def _step_of(self, effect: Effect) -> Step:
        return Step.objects.get(run_id=effect.run_id, number=effect.step_number)

    def _forked_before(self, effect: Effect) -> Run | None:
        run = Run.objects.get(pk=effect.run_id)
        asked = [p for p in forking.places(run) if p.number < effect.step_number]
        asked = [place for place in asked if place.kind == "model"]
        if (
            not asked
            or not forking.rests(run)
            or "what" not in (self._step_of(effect).request.get("arguments") or {})
        ):
            return None
        return forking.fork(run.pk, asked[0].number, by=self._boss(0))

    @rule(which=st.sampled_from(range(6 * MOST_RUNS)))
    def who_asked_for_it_aborts_it(self, which: int) -> None:
        if which >= len(self.rows.runs):
            return
        run = self.rows.runs[which]
        try:
            services.cancel(run.pk, by=self.world.asker, reason="Not any more.")
        except Stale:
            assert run.finished_at is not None or run.state == "completing"


def is_call(work: Work) -> bool:
    return isinstance(work.act, CallTool) and not isinstance(work.act, Reconcile)
