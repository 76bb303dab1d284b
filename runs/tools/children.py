"""A process that answers one request, within a deadline and with nothing left over.

Request and answer are files that no longer have a name: a pipe could be kept open
by what the process started, or fill up. The process leads a session of its own, so
that all it started ends with it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile

from runs.errors import NotSent, TimedOut
from runs.tools.base import Deadline


@dataclass(frozen=True)
class Ended:
    """How a process ended (a signal is negative) and what it wrote, if not too much."""

    code: int
    answer: bytes


def answer_of(
    command: Sequence[str],
    request: bytes,
    deadline: Deadline,
    *,
    most_bytes: int,
    env: Mapping[str, str],
) -> Ended:
    """Run the command with `request` as its input, until it ends.

    Raises `TimedOut` after killing it at the deadline, and `NotSent` if it could
    not be started. What it started is killed too. Safe from any thread.
    """
    with contextlib.ExitStack() as stack:
        try:
            asked = stack.enter_context(TemporaryFile())
            told = stack.enter_context(TemporaryFile())
            asked.write(request)
            asked.seek(0)
            # No preexec_fn: it could deadlock in a process with threads.
            child = subprocess.Popen(  # noqa: S603 - a command of ours
                command, stdin=asked, stdout=told, env=env, start_new_session=True
            )
        except OSError as error:
            raise NotSent(f"No process could be started: {error}") from error
        try:
            _await(child, deadline)
        finally:
            _end(child)
        told.seek(0)
        return Ended(child.returncode, told.read(most_bytes + 1))


def _await(child: subprocess.Popen[bytes], deadline: Deadline) -> None:
    """Until it has ended, without taking its number from it: `_end` needs that."""
    seconds = deadline.remaining()
    try:
        watched = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        # Not every system has them, nor allows them.
        has_ended = _has_ended_within(child, seconds)
    else:
        has_ended = _is_readable(watched, seconds)
        os.close(watched)
    if not has_ended:
        raise TimedOut("The process did not end within its deadline.")


def _has_ended_within(child: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and what it started, and leave no zombie."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()


def _is_readable(descriptor: int, seconds: float) -> bool:
    """Whether it became so in time; `select` knows no descriptor beyond 1023."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
