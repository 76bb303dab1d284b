"""Start, find and kill the processes of a test, whatever became of their parents."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

TOKEN = "AGENTOPS_TEST_TOKEN"


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    log: Path,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process as leader of a session of its own, writing into `log`."""
    with log.open("ab") as out:
        return subprocess.Popen(
            argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )


def tree(pid: int) -> list[psutil.Process]:
    """The process and all its descendants, parents first."""
    with suppress(psutil.NoSuchProcess):
        top = psutil.Process(pid)
        return [top, *top.children(recursive=True)]
    return []


def marked(token: str) -> list[psutil.Process]:
    """Every living process whose environment carries the token, orphans too."""
    return [p for p in psutil.process_iter() if _carries(p, token)]


def kill(
    processes: Iterable[psutil.Process], signal_number: int = signal.SIGKILL
) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(signal_number)


def kill_marked(token: str, *, timeout_s: float = 5.0) -> None:
    """Kill until nothing is left: a dying tree may still have forked a child."""
    deadline = time.monotonic() + timeout_s
    while living := marked(token):
        kill(living)
        psutil.wait_procs(living, timeout=0.5)
        if time.monotonic() > deadline:
            raise AssertionError(f"these processes do not die: {living}")


def _carries(process: psutil.Process, token: str) -> bool:
    if process.pid == os.getpid():
        return False
    with suppress(psutil.Error, OSError):
        return (
            process.status() != psutil.STATUS_ZOMBIE
            and process.environ().get(TOKEN) == token
        )
    return False
