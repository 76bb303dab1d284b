"""kill -9 of each role of an installation under load, in random order."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

import psutil

from runs.models import Effect, Run
from runs.states import RunState
from tests.crashes.matrix import invariants
from tests.crashes.matrix.site import LONG_S, Site, bearing, unfinished
from tests.crashes.matrix.tally import Tally
from tests.crashes.matrix.victims import Victims
from tests.crashes.matrix.visitors import KEYS
from tests.support import processes
from tests.support.project import LiveProject
from tests.support.wait import wait_until

RUNS = 10
# Longer than the lease, shorter than a tool's own code may take to answer.
FROZEN_S = 5.0
IDLE = "driver, idle"
FREEZES = ("driver, frozen past its lease", "whole tree, frozen past its leases")

Standing = dict[UUID, int]


class Killer:
    """Kills each role in turn, and waits after each until everything goes on."""

    def __init__(self, site: Site, chance: random.Random, tally: Tally) -> None:
        self._site = site
        self._chance = chance
        self._tally = tally
        self._victims = Victims(site, chance)

    def roles(self) -> dict[str, Callable[[], None]]:
        victims = self._victims
        roles: dict[str, Callable[[], None]] = {
            "driver, busy": lambda: _kill(victims.driver()),
            IDLE: lambda: _kill(victims.idle_driver()),
            "spare worker": lambda: _kill(victims.spare()),
            "monitor": lambda: _kill(victims.monitor()),
            "pusher": lambda: _kill(victims.pusher()),
            "sentinel": lambda: _kill(victims.sentinel()),
            "main": self._kill_main,
            "whole tree": self._kill_tree,
            "web server, worker": lambda: _kill(victims.web_worker()),
            "web server, main": self._kill_web,
            FREEZES[0]: self._freeze_driver,
            FREEZES[1]: self._freeze_tree,
        }
        if server := self._site.server:
            pick = self._chance
            roles["PostgreSQL, a backend"] = lambda: _kill(
                server.backend(pick.randrange(1000))
            )
            roles["PostgreSQL, postmaster"] = self._kill_postgres
        return roles

    def kill(self, number: int) -> None:
        """So many kills, each role in turn in random order. Freezes come on top, where
        the kills are enough for a whole turn."""
        wanted = self._tally.kills + number
        roles = list(self.roles())
        if number < len(roles):
            roles = [role for role in roles if role not in FREEZES]
        for role in self._in_turn(roles):
            if self._tally.kills >= wanted:
                return
            self._one(role)

    def _in_turn(self, roles: list[str]) -> Iterator[str]:
        while True:
            self._chance.shuffle(roles)
            yield from roles

    def _one(self, role: str) -> None:
        row = self._tally.role(role)
        try:
            self._site.load(RUNS)
            if role == IDLE:
                self._site.rest()
            time.sleep(self._chance.uniform(0, 0.8))  # any moment will do
            standing = _held()
            row.seen["runs held"] += len(standing)
            row.seen["acts under way"] += _under_way()
            began = time.monotonic()
            self.roles()[role]()
            row.kills += role not in FREEZES
            self._wait_for(standing)
            row.back_s.append(time.monotonic() - began)
            self._tally.say(f"{self._tally.kills}: {role}")
            self._look(role)
        except psutil.NoSuchProcess:
            row.seen["gone before it was killed"] += 1
        except (AssertionError, psutil.TimeoutExpired) as error:
            self._tally.broke(role, error)
        finally:
            self._site.submitter.resting.clear()

    # What takes more than a signal

    def _kill_main(self) -> None:
        project = self._site.project
        self._victims.main().kill()
        project.process("worker").wait(10)
        self._wait_for_no_orphans()
        project.start_worker()

    def _kill_tree(self) -> None:
        self._site.project.kill_tree("worker", signal.SIGKILL)
        self._site.project.start_worker()

    def _kill_web(self) -> None:
        project = self._site.project
        self._victims.web_main().kill()
        project.process("web").wait(10)
        self._wait_for_no_orphans()
        project.start_web()

    def _kill_postgres(self) -> None:
        server = self._site.server
        assert server
        server.kill()
        time.sleep(self._chance.uniform(0, 2))
        server.start()

    def _freeze_driver(self) -> None:
        """The others go on meanwhile; nobody may say that its acts did not happen."""
        driver = self._victims.driver()
        driver.suspend()
        time.sleep(FROZEN_S)
        driver.resume()

    def _freeze_tree(self) -> None:
        tree = self._victims.whole()
        processes.kill(tree, signal.SIGSTOP)
        time.sleep(FROZEN_S)
        processes.kill(tree, signal.SIGCONT)

    # Afterwards

    def _wait_for(self, standing: Standing) -> None:
        """Until each of these runs has moved on, and all processes are there again."""
        wait_until(
            lambda: bearing(lambda: _moved_on(standing)),
            timeout_s=LONG_S,
            what="the runs' going on",
        )
        self._victims.look()
        if self._site.server:
            self._site.server.wait()
        project = self._site.project
        wait_until(
            lambda: project.status("/healthz") == 200, timeout_s=LONG_S, what="the web"
        )

    def _look(self, role: str) -> None:
        self._wait_for_no_orphans()
        site = self._site
        for somebody in (site.person, site.reader, site.submitter):
            for words in somebody.broken:
                self._tally.broke(role, words)
            somebody.broken.clear()

    def _wait_for_no_orphans(self) -> None:
        """Nothing is alive that is not in a tree, of those that should be gone."""

        def no_orphans() -> bool:
            project = self._site.project
            known = {p.pid for name in ("worker", "web") for p in _tree(project, name)}
            return {process.pid for process in project.survivors()} <= known

        wait_until(no_orphans, timeout_s=LONG_S, what="no orphans")

    # At the end

    def finish(self) -> None:
        """All runs end, everything holds, and a stop is a stop."""
        tally, site = self._tally, self._site
        site.submitter.leave()
        try:
            site.settle()
        except AssertionError as error:
            tally.broke("at the end", f"{error}: {[r.park for r in unfinished()]}")
        for words in invariants.broken(site.outside.counts()):
            tally.broke("at the end", words)
        if words := _lost_or_doubled(site.submitter.taken):
            tally.broke("at the end", words)
        site.reader.leave()
        self._look("at the end")
        self._stop()
        tally.totals |= {
            "runs under load": Run.objects.count(),
            "irreversible calls": Effect.objects.count(),
            "a person said": _counted(site.person.said),
            "pages were answered with (0: not at all)": _counted(site.reader.got),
            "forms were answered with": _counted(site.submitter.got),
        }

    def _stop(self) -> None:
        project = self._site.project
        for name in ("worker", "web"):
            code = project.terminate(name, timeout_s=LONG_S)
            if code:
                self._tally.broke("SIGTERM", f"{name} ended with {code}")
            if "Traceback" in (log := project.log(name)):
                found = log[log.index("Traceback") - 500 :][:3000]
                self._tally.broke(f"log of {name}", found)
        if left := project.survivors():
            self._tally.broke("SIGTERM", f"these are left: {left}")


def _tree(project: LiveProject, name: str) -> list[psutil.Process]:
    with suppress(KeyError):
        return project.tree(name)
    return []


def _counted(counter: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {number} times" for name, number in counter.items())


def _lost_or_doubled(keys: list[str]) -> str:
    """A form that was taken is one run, however often it was sent."""
    sent = Run.objects.filter(submit_key__contains=KEYS)
    found = sorted(str(run.submit_key) for run in sent)
    return "" if found == keys else f"forms {keys} became runs {found}"


def _kill(process: psutil.Process) -> None:
    """kill -9, until its parent has noticed."""
    process.kill()
    process.wait(10)


def _held() -> Standing:
    """Runs in a driver's hands, and how far each is."""
    held = Run.objects.exclude(lease_owner="").values_list("pk", "sequence")
    return dict(held)


def _under_way() -> int:
    return Effect.objects.filter(status="started", finished_at=None).count()


def _moved_on(standing: Standing) -> bool:
    """Each has another step, or waits for somebody, or has ended."""
    rests = [RunState.COMPLETED.value, RunState.AWAITING_HUMAN.value]
    left = Run.objects.filter(pk__in=standing).exclude(state__in=rests)
    still = [run for run in left if run.sequence <= standing[run.pk]]
    return not still
