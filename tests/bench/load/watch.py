"""Memory and processor time of the parts, every few seconds."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from tests.bench.load.site import Site
from tests.bench.tree import pss_mb
from tests.support import processes

EVERY_S = 5.0


@dataclass(frozen=True)
class Part:
    """`memory_mb`: (seconds since the start, MB) of each look."""

    name: str
    memory_mb: Sequence[tuple[float, float]]
    cores: float

    @property
    def is_ours(self) -> bool:
        """PostgreSQL fills its shared buffers with the rows of the runs, up to a size."""
        return self.name != "PostgreSQL"

    @property
    def first_mb(self) -> float:
        """The middle of the second quarter: what start and warming take is over."""
        return self._middle(0.25, 0.5)

    @property
    def last_mb(self) -> float:
        return self._middle(0.75, 1.0)

    def _middle(self, since: float, until: float) -> float:
        end = self.memory_mb[-1][0]
        chosen = [mb for at, mb in self.memory_mb if since * end <= at <= until * end]
        return statistics.median(chosen)


class Watch(threading.Thread):
    """Looks at web server, worker and PostgreSQL until `leave`."""

    def __init__(self, site: Site) -> None:
        super().__init__(name="watch", daemon=True)
        self._gone = threading.Event()
        postmaster = site.server.postmaster().pid
        self._trees: dict[str, Callable[[], list[psutil.Process]]] = {
            "web server": lambda: site.project.tree("web"),
            "worker": lambda: site.project.tree("worker"),
            "PostgreSQL": lambda: processes.tree(postmaster),
        }
        self._seen: dict[str, list[tuple[float, float]]] = {n: [] for n in self._trees}

    def run(self) -> None:
        self._began, before = time.monotonic(), self._used()
        while not self._gone.wait(EVERY_S):
            at = time.monotonic() - self._began
            for name, tree in self._trees.items():
                self._seen[name].append((at, sum(map(pss_mb, tree()))))
        after, wall_s = self._used(), time.monotonic() - self._began
        self.parts = [
            Part(name, seen, (after[name] - before[name]) / wall_s)
            for name, seen in self._seen.items()
        ]

    def leave(self) -> list[Part]:
        self._gone.set()
        self.join()
        return self.parts

    def _used(self) -> dict[str, float]:
        return {name: sum(map(_cpu_s, tree())) for name, tree in self._trees.items()}


def _cpu_s(process: psutil.Process) -> float:
    with suppress(psutil.Error):
        used = process.cpu_times()
        own = float(used.user + used.system)
        return own + float(used.children_user + used.children_system)
    return 0.0
