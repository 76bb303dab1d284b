"""The world of a history: the real engine and database, and all that is around it.

Time is a number, chance is none, the model is scripted at the transport, and what
the tools do is counted outside. One thread does everything, one commit at a time.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, transaction

from agentops import clock
from runs import backoff, points, policy, services, slots
from runs.engine import Held
from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Agent, Run, Tool
from runs.states import StepStatus
from runs.tools import registry
from runs.values import StepValue
from runs.work import Outcome, Rest, Work
from tests.model import acts, invariants, tools
from tests.model.drivers import Driver, Fate, Killed
from tests.model.invariants import Rows
from tests.model.said import TOOLS, Reply, Turn
from tests.model.tools import outside
from tests.support.provider import BASE_URL, ScriptedProvider
from tests.support.replies import Answer

BEGAN = 1_800_000_000.0
TICK_S = 0.01
LIMITS = {"steps": 8, "seconds": 60, "money": "0.01", "tokens": 20_000}
AGENTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "poor": {"limits": LIMITS},
    "rich": {"limits": {"steps": 60}},
    "careful": {"plan_first": True, "check_answer": True},
    "planner": {"plan_first": True},
    "lonely": {"has_reviewer": False},
}


class World:
    """What a history happens in. `close` leaves no trace of it in the database."""

    def __init__(self) -> None:
        self._open = contextlib.ExitStack()
        self._atomic = transaction.atomic()
        self._atomic.__enter__()
        self.seconds = BEGAN
        self.turn = Turn()
        self.fate = Fate()
        self.died_alone: Counter[UUID] = Counter()
        outside.forget()
        self._put_in_place()
        self.asker = User.objects.get(username="asker")
        self.bosses = list(
            User.objects.filter(username__startswith="boss").order_by("pk")
        )
        self.drivers = [Driver(slot, self) for slot in (1, 2)]
        for driver in self.drivers:
            driver.start()
        self.final: dict[Any, dict[str, Any]] = {}

    def _put_in_place(self) -> None:
        self.provider = ScriptedProvider(then=self._answer)
        client = OpenAIClient(BASE_URL, "sk-test", transport=self.provider.transport)
        self._open.enter_context(using(client))
        self._open.enter_context(registry.added(*tools.ALL))
        patch = self._open.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(clock, "timestamp", lambda: self.seconds)
        patch.setattr(backoff, "_chance", _NoChance())
        patch.setattr(points, "reach", lambda point: self.fate.reach(point))
        patch.setattr(policy, "FRESH_S", float("inf"))
        patch.setattr(slots, "is_free", lambda n: not self.drivers[n - 1].is_alive)
        policy.forget()

    def close(self) -> None:
        transaction.set_rollback(True)
        self._atomic.__exit__(None, None, None)
        self._open.close()
        policy.forget()

    # ---- time

    def wait(self, seconds: float, *, with_hearts: bool = True) -> None:
        """Time passes; hearts beat often enough, unless their drivers are stopped."""
        self.seconds += seconds
        if with_hearts:
            for driver in self.drivers:
                if driver.is_alive:
                    driver.beat()

    # ---- what drivers meet

    def _answer(self, body: dict[str, Any]) -> Answer:
        return self.turn.reply.to(body)

    def perform(self, work: Work, turn: Turn) -> Outcome:
        self.turn, outside.mood = turn, turn.mood
        acts.assert_paid_for(work)
        outcome = work.perform()
        self.seconds += turn.takes_s + TICK_S
        return outcome

    def look_at_open(self, step: StepValue | None, following: Work | Rest) -> None:
        if step is not None and step.status is StepStatus.STARTED:
            acts.assert_asked_for(step, following)

    def look_at_begin(self, held: Held, work: Work) -> None:
        acts.assert_allowed(held, work)

    def look_at_record(self, held: Held, step: int, outcome: Outcome) -> None:
        acts.assert_recorded(held.run_id, step, outcome)

    def look_at_death(self, owner: str) -> None:
        """Who is alone with a driver that dies may be to blame; who is not, is not."""
        held = Run.objects.filter(lease_owner=owner).values_list("pk", flat=True)
        if len(held) == 1:
            self.died_alone[held[0]] += 1

    @contextlib.contextmanager
    def dying(self, after: int) -> Iterator[None]:
        """Whoever works in this block dies at its so-many-th point, if it gets there."""
        self.fate = Fate(after, Killed)
        try:
            with contextlib.suppress(Killed):
                yield
        finally:
            self.fate = Fate()

    @contextlib.contextmanager
    def losing_the_database(self, after: int) -> Iterator[None]:
        """At that point the connection is lost, once; what was committed, is."""
        self.fate = Fate(after, OperationalError)
        try:
            yield
        finally:
            self.fate = Fate()

    def switch(self, tool: str, **fields: Any) -> None:
        """As an admin does; all drivers know at once."""
        Tool.objects.update_or_create(name=tool, defaults=fields)
        policy.forget()

    # ---- what people do

    def start(self, agent: str) -> None:
        self.seconds += TICK_S
        services.start(
            agent=Agent.objects.get(slug=agent), by=self.asker, task="Post letters"
        )

    # ---- the end

    def look(self) -> Rows:
        """All invariants, now."""
        self.seconds += TICK_S
        rows = Rows()
        invariants.check(rows)
        invariants.unchanged(self.final, rows)
        invariants.bystanders_are_not_blamed(rows, self.died_alone)
        for run in rows.runs:
            if run.finished_at is not None:
                self.final[run.pk] = invariants.of_final(run)
        self.provider.assert_clean()
        return rows

    def settle(self) -> None:
        """All drivers die; one that comes after them takes every run to its rest."""
        for driver in self.drivers:
            driver.die()
        self.seconds += 3600
        last = self.drivers[0]
        last.start()
        for _ in range(400):
            if not Run.objects.filter(wake_at__isnull=False).exists():
                break
            last.claim()
            for run_id in last.held():
                last.go(run_id, Turn(Reply("text")))
            self.seconds += 60
        self.look()
        left = list(Run.objects.filter(wake_at__isnull=False))
        assert not left, f"{left} neither end nor park"
        invariants.every_act_is_in_the_ledger()
        for run in Run.objects.select_related("version"):
            invariants.prompts_are_proved(run)


class _NoChance:
    def random(self) -> float:
        return 0.5


def make_people_and_agents() -> None:
    """Once, for all histories of a test."""
    for name in ("asker", "boss-ana", "boss-ben"):
        User.objects.create_superuser(name)
    grants: dict[str, Any] = {name: {"policy": "ask_below"} for name in TOOLS}
    grants |= {name: {"policy": "auto"} for name in ("ask_human", "escalate")}
    grants["update_plan"] = {"policy": "auto"}
    for slug, fields in AGENTS.items():
        prompt = "You post letters."
        values: dict[str, Any] = {
            "slug": slug,
            "name": slug,
            "prompt": prompt,
            "grants": grants,
        }
        values |= {"max_output_tokens": 500, "plan_first": False}
        Agent.objects.create(**values | fields)
