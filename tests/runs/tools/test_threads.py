"""Threads are used again, and one that hangs holds up nobody."""

from __future__ import annotations

import contextvars
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from runs.tools import threads
from runs.tools.threads import Crowded, LeftAlone, NotBegun, call_within
from tests.support.project import ROOT
from tests.support.wait import HANGS_S, cut_short, wait_until

pytestmark = pytest.mark.once


def test_it_returns_or_raises_what_the_call_does() -> None:
    assert call_within(5, lambda: 42) == 42
    with pytest.raises(IndexError):
        call_within(5, lambda: list[int]()[1])


def test_a_thread_is_used_again() -> None:
    first = call_within(5, threading.get_ident)

    assert call_within(5, threading.get_ident) == first


def test_a_call_that_hangs_is_left_alone_and_its_thread_comes_back() -> None:
    release, ended = threading.Event(), threading.Event()

    def hang() -> None:
        release.wait(HANGS_S)
        ended.set()

    with cut_short(), pytest.raises(LeftAlone):
        call_within(0.1, hang)
    assert call_within(5, lambda: 1) == 1

    before = len(threads._idle)
    release.set()
    wait_until(lambda: ended.is_set() and len(threads._idle) > before)


def test_a_call_that_changes_nothing_is_ended_where_it_is() -> None:
    began, ended = threading.Event(), threading.Event()

    def spin() -> None:
        began.set()
        try:
            while True:
                pass
        finally:
            ended.set()

    with pytest.raises(LeftAlone):
        call_within(0.2, spin, interrupts=True)

    assert began.is_set()
    assert ended.wait(10)
    assert call_within(5, lambda: 1) == 1


class Late(threads._Worker):
    """A thread that does not get to run until it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()

    def run(self) -> None:
        self.let.wait(10)
        super().run()


@pytest.mark.parametrize("interrupts", [True, False])
def test_a_call_that_could_not_begin_in_time_is_not_made_later(interrupts) -> None:
    late, made = Late(), threading.Event()
    late.start()
    threads._idle.append(late)
    with pytest.raises(NotBegun):
        call_within(0.05, made.set, owner="late", most_left=1, interrupts=interrupts)

    late.let.set()
    wait_until(lambda: late in threads._idle)

    assert not made.is_set()
    assert call_within(5, lambda: 1, owner="late", most_left=1) == 1


def test_an_owner_whose_calls_hang_gets_no_more_of_them() -> None:
    release = threading.Event()
    for _ in range(2):
        with pytest.raises(LeftAlone):
            call_within(0.05, lambda: release.wait(20), owner="a", most_left=2)

    with pytest.raises(Crowded):
        call_within(5, lambda: 1, owner="a", most_left=2)
    assert call_within(5, lambda: 1, owner="b", most_left=2) == 1

    release.set()
    wait_until(lambda: not threads._left["a"])
    assert call_within(5, lambda: 1, owner="a", most_left=2) == 1


def test_many_calls_at_once_do_not_wait_for_each_other() -> None:
    together = threading.Barrier(40, timeout=10)

    def call() -> None:
        call_within(10, together.wait)

    callers = [threading.Thread(target=call) for _ in range(40)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()

    assert not together.broken
    wait_until(lambda: len(threads._idle) <= threads.MOST_IDLE)


def test_context_variables_go_along() -> None:
    variable = contextvars.ContextVar("variable", default="none")
    variable.set("ours")

    assert call_within(5, variable.get) == "ours"


# Python warns of forking with threads; that is just what a worker does.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    call_within(5, lambda: 1)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if call_within(5, lambda: 7) == 7 else 2
        finally:
            os._exit(code)

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


STOPPED = """
import time
from runs.tools.threads import call_within

def call():
    print("begun", flush=True)
    time.sleep(0.3)
    ends = time.process_time() + 0.1
    while time.process_time() < ends:
        pass
    return "ended"

print(call_within(1, call), flush=True)
"""


def test_the_time_in_which_its_process_was_stopped_is_not_counted() -> None:
    argv = [sys.executable, "-c", STOPPED]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        assert child.stdout.readline() == "begun\n"

        child.send_signal(signal.SIGSTOP)
        time.sleep(1.2)
        child.send_signal(signal.SIGCONT)

        assert child.stdout.readline() == "ended\n"
