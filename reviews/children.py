"""Child processes of a command: started, watched, and stopped with it.

Each is a session of its own, so that Ctrl-C in a terminal reaches the command alone,
which then stops them in order. Linux tells them when the command is killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
STDERR = 2
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass
class Child:
    """One program and the process that runs it now."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    pass_fds: Sequence[int] = ()
    quiet: bool = False
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    ended_at: list[float] = field(default_factory=list)

    def start(self) -> None:
        """Start it, or start it again. Its output goes where ours goes, that of a
        quiet one to stderr. Needs a process of one thread, as commands are."""
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603 - our own programs
            self.argv,
            env=dict(self.env),
            cwd=self.cwd,
            pass_fds=tuple(self.pass_fds),
            stdin=subprocess.DEVNULL,
            stdout=STDERR if self.quiet else None,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )

    @property
    def code(self) -> int | None:
        """The exit code once it has ended; below 0 it is the signal that did it."""
        return self.process.poll() if self.process else None

    @property
    def lived_s(self) -> float:
        return time.monotonic() - self.started_at

    def end(self) -> str:
        """How it ended, in words."""
        code = self.code or 0
        if code >= 0:
            return f"ended with code {code}"
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"

    def terminate(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        """It and all it has started in its session."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def stop(children: Sequence[Child], *, within_s: float) -> None:
    """Ask all of them at once to end, and kill what has not after that time."""
    for child in children:
        child.terminate()
    deadline = time.monotonic() + within_s
    for child in children:
        if child.process is not None:
            with suppress(subprocess.TimeoutExpired):
                child.process.wait(max(0.0, deadline - time.monotonic()))
        child.kill()


def _end_with_parent() -> None:
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
