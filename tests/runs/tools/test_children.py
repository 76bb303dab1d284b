"""A process answers, or is ended with all it started."""

from __future__ import annotations

import os
import sys

import pytest

from runs.errors import NotSent, TimedOut
from runs.tools.base import Deadline
from runs.tools.children import Ended, answer_of
from tests.runs.tools.calls import gone
from tests.support.wait import wait_until

pytestmark = pytest.mark.once

ECHO = "import sys; print(sys.stdin.read().upper(), end='')"


def ask(program: str, seconds: float = 20, most: int = 100) -> Ended:
    command = [sys.executable, "-I", "-S", "-c", program]
    deadline = Deadline.after(seconds)
    return answer_of(command, b"word", deadline, most_bytes=most, env=os.environ)


def test_it_answers() -> None:
    assert ask(ECHO) == Ended(0, b"WORD")


@pytest.mark.parametrize("error", [AttributeError, PermissionError])
def test_a_system_that_does_not_let_us_watch_a_process_is_asked_instead(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise error

    monkeypatch.setattr(os, "pidfd_open", refuse)

    assert ask(ECHO) == Ended(0, b"WORD")
    with pytest.raises(TimedOut):
        ask("import time; time.sleep(99)", seconds=0.5)


def test_no_more_is_read_than_is_wanted() -> None:
    assert len(ask("print('x' * 1_000_000)", most=10).answer) == 11


def test_a_signal_that_ended_it_is_told() -> None:
    assert ask("import os; os.abort()").code == -6


def test_one_that_ignores_signals_ends_at_the_deadline() -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "time.sleep(99)"
    )

    with pytest.raises(TimedOut):
        ask(stubborn, seconds=0.5)


def test_what_it_started_does_not_outlive_it() -> None:
    ended = ask("import os, time; print(os.fork() or time.sleep(99))")

    wait_until(lambda: gone(int(ended.answer)), what="the grandchild to be gone")


def test_a_program_that_is_not_there_was_not_begun() -> None:
    with pytest.raises(NotSent):
        answer_of(["/no/such"], b"", Deadline.after(5), most_bytes=1, env={})
