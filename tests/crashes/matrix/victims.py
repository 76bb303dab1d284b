"""Who is who in a running installation, however often parts of it were replaced."""

from __future__ import annotations

import random
from collections.abc import Callable

import psutil

from runs.models import Run
from tests.crashes.matrix.site import Site, bearing
from tests.support.fleet import forked, pid_of, pids_of_drivers
from tests.support.wait import wait_until

LONG_S = 60.0


class Victims:
    """Finds the process of a role; each waits until there is one."""

    def __init__(self, site: Site, chance: random.Random) -> None:
        self._project = site.project
        self._chance = chance
        self._sentinel = 0
        self._helpers: dict[str, psutil.Process] = {}

    def main(self) -> psutil.Process:
        return self._project.tree("worker")[0]

    def sentinel(self) -> psutil.Process:
        self.look()
        return psutil.Process(self._sentinel)

    def monitor(self) -> psutil.Process:
        self.look()
        return self._helpers["monitor"]

    def pusher(self) -> psutil.Process:
        self.look()
        return self._helpers["pusher"]

    def driver(self) -> psutil.Process:
        """One that holds runs."""
        return self._of(lambda pid: pid in _holders())

    def idle_driver(self) -> psutil.Process:
        """One that has a slot and nothing to do."""
        return self._of(lambda pid: pid in pids_of_drivers() and pid not in _holders())

    def spare(self) -> psutil.Process:
        """One that waits for short tasks."""
        return self._of(lambda pid: pid not in pids_of_drivers())

    def web_main(self) -> psutil.Process:
        return self._project.tree("web")[0]

    def web_worker(self) -> psutil.Process:
        return wait_until(
            lambda: self._project.tree("web")[1:], what="a worker of the web server"
        )[0]

    def whole(self) -> list[psutil.Process]:
        return self._project.tree("worker")

    def look(self) -> None:
        """Wait for a whole tree, and learn who is who in a new one: later, the places
        of workers that died are taken by younger ones than monitor and pusher."""
        *_, monitor, pusher = wait_until(
            self._forked, timeout_s=LONG_S, what="a whole tree"
        )
        parent = pusher.ppid()
        if parent != self._sentinel:
            self._helpers = {"monitor": monitor, "pusher": pusher}
            self._sentinel = parent

    def _forked(self) -> list[psutil.Process]:
        return forked(self._project)

    def _of(self, fits: Callable[[int], bool]) -> psutil.Process:
        def found() -> list[psutil.Process]:
            self.look()
            helpers = [process.pid for process in self._helpers.values()]
            workers = [c for c in self._forked() if c.pid not in helpers]
            self._chance.shuffle(workers)
            return bearing(lambda: [w for w in workers if fits(w.pid)]) or []

        return wait_until(found, timeout_s=LONG_S, what="such a worker")[0]


def _holders() -> set[int]:
    owners = Run.objects.exclude(lease_owner="").values_list("lease_owner", flat=True)
    return {pid_of(owner) for owner in owners.distinct()}
