"""Worker trees under load: runs against a scripted model, and who is who in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from django.contrib.auth.models import User

from runs.models import Agent, Driver, Run
from runs.services import start
from runs.states import FINAL
from tests.support import sound
from tests.support.project import LiveProject, model_at
from tests.support.provider import ScriptedProvider
from tests.support.replies import Answer, calls, slow, text
from tests.support.wait import wait_until

WORKERS = 3


def turns(number: int, delay_s: float) -> Callable[[dict[str, Any]], Answer]:
    """A model that calls a tool so often, then answers; each reply takes a while."""

    def answer(body: dict[str, Any]) -> Answer:
        done = sum(message["role"] == "tool" for message in body["messages"])
        if done < number:
            call = ("calculate", {"expression": f"{done} + 1"})
            return slow(calls(call), delay_s)
        return slow(text("Done."), delay_s)

    return answer


@dataclass(frozen=True)
class Roles:
    """The processes of a tree that has just started, by what they do."""

    main: psutil.Process
    sentinel: psutil.Process
    workers: Sequence[psutil.Process]
    monitor: psutil.Process
    pusher: psutil.Process

    @classmethod
    def of(cls, project: LiveProject) -> Roles:
        """Told apart by the order in which the sentinel forks them."""
        main = project.tree("worker")[0]
        *workers, monitor, pusher = wait_until(
            lambda: forked(project), what="a whole tree"
        )
        return cls(main, main.children()[0], workers, monitor, pusher)

    @classmethod
    def at_work(cls, project: LiveProject) -> Roles:
        """Once all slots for drivers are taken."""
        roles = cls.of(project)
        wait_until(lambda: len(roles.driving) == WORKERS - 1, what="drivers at work")
        return roles

    def of_name(self, role: str) -> psutil.Process:
        if role == "idle worker":
            return self.idle[0]
        found: psutil.Process = getattr(self, role)
        return found

    @property
    def driving(self) -> list[psutil.Process]:
        """Workers that hold a slot for drivers."""
        pids = pids_of_drivers()
        return [worker for worker in self.workers if worker.pid in pids]

    @property
    def idle(self) -> list[psutil.Process]:
        pids = {worker.pid for worker in self.driving}
        return [worker for worker in self.workers if worker.pid not in pids]


def forked(project: LiveProject) -> list[psutil.Process]:
    """What the sentinel has forked, the oldest first: workers, monitor and pusher, and
    what took the place of a worker. Empty while there is no whole tree."""
    try:
        (sentinel,) = project.tree("worker")[0].children()
        found = [c for c in sentinel.children() if c.status() != psutil.STATUS_ZOMBIE]
    except (psutil.NoSuchProcess, ValueError, IndexError):
        return []
    ordered = sorted(found, key=lambda child: child.pid)
    return ordered if len(ordered) == WORKERS + 2 else []


def living_drivers() -> Any:
    return Driver.objects.filter(ended_at=None, slot__gt=0)


def pids_of_drivers() -> set[int]:
    """Of the processes that hold a slot for drivers."""
    return set(living_drivers().values_list("pid", flat=True))


def pid_of(owner: str) -> int:
    """The process of whom the name of a lease's owner tells."""
    return int(owner.rsplit(":", 2)[1])


class Fleet:
    """Makes worker trees on one database, and runs for them."""

    def __init__(
        self, make: Callable[..., LiveProject], base_url: str, model: ScriptedProvider
    ) -> None:
        self._make = make
        self._model_at = model_at(base_url)
        self.model = model
        self._others: list[LiveProject] = []

    def project(self, *, worker: bool = True, **env: str) -> LiveProject:
        """A tree that asks the scripted model, on a database of its own."""
        return self._make(web=False, worker=worker, **self._model_at, **env)

    def beside(self, other: LiveProject, folder: Path, **env: str) -> LiveProject:
        """A second tree on the same database, as on another host."""
        project = self.at(folder, other.database_url, **env)
        project.start_worker()
        return project

    def at(self, folder: Path, url: str, **env: str) -> LiveProject:
        """An installation on that database, nothing of it started yet."""
        folder.mkdir()
        project = LiveProject(folder, url, self._model_at | env)
        self._others.append(project)
        return project

    def stop_others(self) -> None:
        for project in self._others:
            project.stop()

    def start_runs(self, number: int, *, task: str = "Count.") -> list[Run]:
        person = User.objects.filter(username="fleet").first()
        person = person or User.objects.create_superuser("fleet")
        agent, _ = Agent.objects.get_or_create(
            slug="fleet",
            defaults={
                "name": "Fleet",
                "prompt": "You count.",
                "plan_first": False,
                "grants": {name: {"policy": "auto"} for name in ("calculate", "die")},
                "limits": {"money": None, "steps": None},
            },
        )
        return [start(agent=agent, by=person, task=task) for _ in range(number)]


@contextmanager
def fleet(
    make: Callable[..., LiveProject],
    *,
    number: int = 3,
    delay_s: float = 0.15,
    answer: Callable[[dict[str, Any]], Answer] | None = None,
) -> Iterator[Fleet]:
    """Trees and a model that takes so many `turns`, or answers by itself."""
    model = ScriptedProvider(then=answer or turns(number, delay_s))
    with model.serve() as base_url:
        made = Fleet(make, base_url, model)
        try:
            yield made
        finally:
            made.stop_others()
    model.assert_clean()


def unfinished() -> int:
    return Run.objects.exclude(state__in=[state.value for state in FINAL]).count()


def wait_until_finished(timeout_s: float = 30.0) -> None:
    def finished() -> bool:
        return unfinished() == 0

    try:
        wait_until(finished, timeout_s=timeout_s, what="the end of all runs")
    except AssertionError as error:
        rows = Run.objects.values_list(
            "state", "sequence", "claims", "lease_owner", "park", "error"
        )
        raise AssertionError(f"{error}: {list(rows)}") from None


def assert_whole() -> None:
    """Every run completed, and its rows say one thing."""
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}
    assert list(sound.broken()) == []


def assert_well(project: LiveProject) -> None:
    """No orphans, no traceback, and a stop is a stop."""

    def no_orphans() -> bool:
        tree = {process.pid for process in project.tree("worker")}
        return {process.pid for process in project.survivors()} == tree

    wait_until(no_orphans, what="no orphans")
    assert project.terminate("worker") == 0
    assert project.survivors() == []
    log = project.log("worker")
    assert "Traceback" not in log, log[max(0, log.find("Traceback") - 500) :][:4000]
