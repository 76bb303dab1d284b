"""A whole installation under load: web server, worker tree, model, world and person."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import connection

from runs.losses import DATABASE_LOST
from runs.models import Agent, Run
from runs.services import start
from runs.states import FINAL
from tests.crashes.matrix.person import Person
from tests.crashes.matrix.visitors import Reader, Submitter
from tests.support import databases
from tests.support.outside.servers import Outside
from tests.support.postgres import Server
from tests.support.project import LiveProject, model_at
from tests.support.provider import ScriptedProvider
from tests.support.replies import Answer, calls, check, slow, text
from tests.support.wait import wait_until

T = TypeVar("T")

LONG_S = 120.0
SHORT_LEASES = {"AGENTOPS_LEASE_S": "3", "AGENTOPS_HEARTBEAT_S": "1"}
MAIL = {"to": "ana@example.com", "subject": "Hello", "body_markdown": "Fine."}


class Site:
    """What the roles are killed of. `server` is the database's, if it is ours."""

    def __init__(
        self,
        project: LiveProject,
        outside: Outside,
        person: Person,
        reader: Reader,
        submitter: Submitter,
        server: Server | None,
    ) -> None:
        self.project = project
        self.outside = outside
        self.person = person
        self.reader = reader
        self.submitter = submitter
        self.server = server

    def load(self, number: int) -> None:
        """Start runs until so many are on their way, once the database takes them."""
        wait_until(
            lambda: bearing(lambda: self._loaded(number)),
            timeout_s=LONG_S,
            what="a database that takes runs",
        )

    def _loaded(self, number: int) -> bool:
        agent, asker = Agent.objects.get(), User.objects.get(username="asker")
        for _ in range(number - len(unfinished())):
            start(agent=agent, by=asker, task="Post a letter.")
        return True

    def rest(self) -> None:
        """Let all runs end, and nobody give another task for now."""
        self.submitter.resting.set()
        self.settle()

    def settle(self) -> None:
        wait_until(
            lambda: bearing(lambda: not unfinished()),
            timeout_s=LONG_S,
            what="the end of all runs",
        )


def unfinished() -> list[Run]:
    return list(Run.objects.exclude(state__in=[state.value for state in FINAL]))


def bearing(ask: Callable[[], T]) -> T | None:
    """The answer, or None while the database is away."""
    try:
        return ask()
    except DATABASE_LOST:
        connection.close()
        return None


@contextlib.contextmanager
def installed(
    folder: Path,
    template: str,
    outside: Outside,
    chance: random.Random,
    server: Server | None = None,
) -> Iterator[Site]:
    """All of it, started; nothing of it is left after the block."""
    folder.mkdir(parents=True)
    model = ScriptedProvider(then=_model(outside, chance))
    with (
        model.serve() as base_url,
        databases.fresh(folder, template) as url,
        databases.rows_of(url),
    ):
        _people()
        env = outside.environment() | model_at(base_url) | SHORT_LEASES
        project = LiveProject(folder, url, env)
        person = Person(outside)
        reader, submitter = Reader(project.url), Submitter(project.url)
        try:
            project.start_web()
            project.start_worker()
            for somebody in (person, reader, submitter):
                somebody.start()
            yield Site(project, outside, person, reader, submitter, server)
        finally:
            for somebody in (reader, submitter, person):
                if somebody.is_alive():
                    somebody.leave()
            project.stop()
    model.assert_clean()


def _people() -> None:
    User.objects.create_superuser("asker")
    User.objects.create_superuser("boss")
    private = {"allow_private": ["127.0.0.1"]}
    Agent.objects.create(
        slug="clerk",
        name="Clerk",
        prompt="You post letters.",
        plan_first=False,
        grants={
            **{n: {"policy": "auto"} for n in ("calculate", "mark", "send_email")},
            "hand_in": {"policy": "auto"},
            "http_request": {"policy": "ask_below", "settings": private},
        },
        limits={"money": None, "steps": None},
    )


def _model(
    outside: Outside, chance: random.Random
) -> Callable[[dict[str, Any]], Answer]:
    """Calls a reading tool, one that bears repeating, and three that do not."""
    order = {"method": "POST", "url": f"{outside.url}/orders", "body": "one"}
    turns = [
        (("calculate", {"expression": "1 + 1"}), ("mark", {"what": "m"})),
        (("send_email", MAIL),),
        (("hand_in", {"what": "h"}),),
        (("http_request", order),),
    ]

    def answer(body: dict[str, Any]) -> Answer:
        takes_s = chance.uniform(0.05, 0.2)
        if "response_format" in body:
            return slow(check(0.3), takes_s)
        done = sum("tool_calls" in message for message in body["messages"])
        if done < len(turns):
            return slow(calls(*turns[done]), takes_s)
        return slow(text("Done."), takes_s)

    return answer
