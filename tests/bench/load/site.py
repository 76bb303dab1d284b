"""The installation under load: as docs/deploy.md says, on a PostgreSQL of its own."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, User
from django.db import connection

from runs.models import Agent, Run
from runs.services import start
from runs.states import FINAL, RunState
from tests.bench.load.model import Model
from tests.support import acts, databases, postgres
from tests.support.outside import servers
from tests.support.outside.servers import Outside
from tests.support.postgres import Server
from tests.support.project import LiveProject, model_at

PASSWORD = "let me in, please"
MOST_LOOKUPS = 60
FEED_S = 1.0
WORKER_NICE = 10
WEB = ("--workers", "3", "--threads", "8", "--worker-class", "gthread")
RESTS = {state.value for state in FINAL} | {RunState.AWAITING_HUMAN.value}


@dataclass(frozen=True)
class Site:
    project: LiveProject
    model: Model
    outside: Outside
    server: Server


@contextmanager
def installed(folder: Path, operators: int, submitters: int) -> Iterator[Site]:
    """All of it, started; the ORM of this thread works on its rows."""
    os.environ[acts.LOG] = str(folder / "acts")
    with postgres.own() as server, servers.serving() as outside, Model() as model:
        os.environ[databases.ENVIRONMENT] = server.url
        with databases.fresh(folder) as url, databases.rows_of(url):
            mail = {
                name: value
                for name, value in outside.environment().items()
                if name.startswith("EMAIL_")
            }
            project = LiveProject(folder, url, mail | model_at(model.base_url))
            del project.env["AGENTOPS_UNDO_IRREVERSIBLE_S"]
            try:
                project.manage("migrate", "--verbosity", "0")
                _people(operators, submitters)
                project.start_web(options=WEB)
                project.start_worker()
                _let_pages_go_first(project)
                yield Site(project, model, outside, server)
            finally:
                project.stop()


def _let_pages_go_first(project: LiveProject) -> None:
    """What `CPUWeight` does in docs/deploy.md, for processes that are no service.

    Where Linux groups processes by session, nice counts within the group alone, and
    the group has a nice of its own.
    """
    tree = project.tree("worker")
    for process in tree:
        process.nice(WORKER_NICE)
    group = Path(f"/proc/{tree[0].pid}/autogroup")
    if group.exists():
        group.write_text(str(WORKER_NICE))


def _people(operators: int, submitters: int) -> None:
    for word, count in (("operator", operators), ("submitter", submitters)):
        group = Group.objects.get(name=f"{word}s")
        for number in range(count):
            name = f"{word}{number}"
            person = User(username=name, email=f"{name}@example.com")
            person.password = _hashed()
            person.save()
            person.groups.add(group)
    Agent.objects.create(
        slug="load",
        name="Record keeper",
        description="Looks records up and mails what it found.",
        prompt="You look up what you are asked for, one record at a time.",
        plan_first=False,
        grants={
            "calculate": {"policy": "auto"},
            "send_email": {"policy": "ask_below"},
        },
        limits={"money": None, "steps": None},
        input_schema={
            "type": "object",
            "properties": {"number": {"type": "integer", "default": 10}},
            "required": ["number"],
        },
        task_template="Look up {number} records and mail what you found.",
    )


@cache
def _hashed() -> str:
    """One hash for all, as strong as an installation's: making fifty takes a while."""
    return str(PBKDF2PasswordHasher().encode(PASSWORD, "of-a-load-test"))


class Feeder(threading.Thread):
    """Keeps so many runs on their way, until `leave`; parked ones do not count."""

    def __init__(self, number: int, chance: random.Random) -> None:
        super().__init__(name="feeder", daemon=True)
        self._number = number
        self._chance = chance
        self._gone = threading.Event()

    def run(self) -> None:
        while not self._gone.wait(FEED_S):
            self.feed()
        connection.close()

    def feed(self) -> None:
        agent, by = Agent.objects.get(), User.objects.get(username="submitter0")
        for _ in range(self._number - under_way()):
            number = self._chance.randint(1, MOST_LOOKUPS)
            task = f"Look up {number} records and mail what you found."
            start(agent=agent, by=by, task=task, inputs={"number": number})

    def leave(self) -> None:
        self._gone.set()
        self.join(60)


def under_way() -> int:
    """Runs that neither wait for a person nor have ended."""
    return Run.objects.exclude(state__in=RESTS).count()


def people_command(
    site: Site, operators: int, submitters: int, seconds: int, seed: int
) -> list[str]:
    numbers = map(str, (operators, submitters, seconds, seed))
    module = "tests.bench.load.people"
    return [sys.executable, "-m", module, site.project.url, PASSWORD, *numbers]
