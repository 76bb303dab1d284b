"""A worker tree as an operator starts it, watched: memory and processor time."""

from __future__ import annotations

import contextlib
import secrets
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from tests.support import processes
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parents[2]
SAMPLE_S = 0.5
STOP_S = 30.0


class Tree:
    """The processes below and with one `manage.py worker`."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.peak_mb = 0.0
        self._stopped = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()

    def size(self) -> int:
        return len(processes.tree(self._pid))

    def pss_mb(self) -> float:
        """Memory of the whole tree, shared pages counted once."""
        return sum(map(pss_mb, processes.tree(self._pid)))

    def cpu_s(self) -> float:
        """Processor time of all of them, ended children included."""
        total = 0.0
        for process in processes.tree(self._pid):
            with contextlib.suppress(psutil.Error):
                used = process.cpu_times()
                total += used.user + used.system
                total += used.children_user + used.children_system
        return total

    def watch_anew(self) -> None:
        self.peak_mb = 0.0

    def close(self) -> None:
        self._stopped.set()
        self._sampler.join()

    def _sample(self) -> None:
        while not self._stopped.wait(SAMPLE_S):
            self.peak_mb = max(self.peak_mb, self.pss_mb())


@contextlib.contextmanager
def worker(environment: Mapping[str, str]) -> Iterator[Tree]:
    """Run `manage.py worker` for the block; nothing of it is left behind."""
    token = secrets.token_hex(8)
    log = Path(tempfile.mkstemp(prefix="agentops-bench-worker-", suffix=".log")[1])
    process = processes.start(
        [sys.executable, str(ROOT / "manage.py"), "worker"],
        env={**environment, processes.TOKEN: token},
        cwd=ROOT,
        log=log,
    )
    tree = Tree(process.pid)
    try:
        wait_until(lambda: tree.size() > 3, timeout_s=60, what="a worker tree")
        yield tree
    finally:
        tree.close()
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(Exception):
            process.wait(STOP_S)
        processes.kill_marked(token)
        log.unlink()


def pss_mb(process: psutil.Process) -> float:
    """Memory of one process, its part of shared pages only; 0 if it is gone."""
    with contextlib.suppress(OSError):
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
        return next(
            int(line.split()[1]) / 1024
            for line in text.splitlines()
            if line.startswith("Pss:")
        )
    return 0
