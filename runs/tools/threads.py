"""Calls in threads that can be left alone: whoever waits stops waiting in time.

Threads are used again, since starting one costs more than most calls. One that was
left alone comes back when its call ends. They are daemons: nobody waits for them
when the program ends. An owner of whose calls too many go on gets no more of them,
so that what hangs for ever does not use up the process.
"""

from __future__ import annotations

import contextvars
import ctypes
import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

MOST_IDLE = 32
MOST_LEFT = 50
SLICES = 10

_idle: deque[_Worker] = deque()
_left: defaultdict[str, set[_Act]] = defaultdict(set)


def _forget_threads() -> None:
    _idle.clear()
    _left.clear()


os.register_at_fork(after_in_child=_forget_threads)


class LeftAlone(Exception):
    """The call did not end in time; it goes on by itself."""


class NotBegun(LeftAlone):
    """Its thread did not get to the call in time: it is not made, now or later."""


class Crowded(Exception):
    """So many calls of the same owner were left alone that no other is made."""


class _Interrupted(SystemExit):
    """Raised in the midst of a call that was left alone."""


def call_within(
    seconds: float,
    call: Callable[[], Any],
    *,
    owner: str = "",
    most_left: int = MOST_LEFT,
    interrupts: bool = False,
) -> Any:
    """The call's result, or what it raised.

    Raises `LeftAlone` when it does not end in time, `NotBegun` when the process is so
    busy that it did not even begin; `Crowded` when `most_left` calls
    of the owner were left alone and go on still, and RuntimeError when there can be no
    more threads (nothing was called then). `interrupts`: a call that is left alone is
    ended at its next line of Python; for what changes nothing. Context variables are
    those of the caller; Django's connections that it opened are closed.
    """
    if len(_left[owner]) >= most_left:
        raise Crowded
    act = _Act(call, owner)
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
    worker.inbox.put(act)
    if not act.ends_within(seconds) and act.leave(worker, interrupts):
        raise LeftAlone if act.has_begun else NotBegun
    if act.error is not None:
        raise act.error
    return act.result


class _Act:
    """A call on its way: the lock `ended` is free once it has ended."""

    def __init__(self, call: Callable[[], Any], owner: str) -> None:
        self.call = call
        self.owner = owner
        self.context = contextvars.copy_context()
        self.ended = threading.Lock()
        self.ended.acquire()
        self.result: Any = None
        self.error: BaseException | None = None
        self.has_begun = False
        self._deciding = threading.Lock()
        self._is_over = False
        self._is_left = False
        self._is_interrupted = False

    def begin(self) -> bool:
        """False if nobody waits for it any longer: then it is not to be made."""
        with self._deciding:
            self.has_begun = not self._is_left
            return self.has_begun

    def run(self) -> None:
        try:
            try:
                self.result = self.context.run(self.call)
            finally:
                _close_connections()
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            self.error = error

    def ends_within(self, seconds: float) -> bool:
        """Wait for it. A process that was stopped meanwhile lost one slice at most:
        the time in which nothing could go on is nobody's fault."""
        return any(self.ended.acquire(timeout=seconds / SLICES) for _ in range(SLICES))

    def leave(self, worker: threading.Thread, interrupts: bool) -> bool:
        """Nobody waits for it any longer; False if it has ended at this moment."""
        with self._deciding:
            if self._is_over:
                return False
            self._is_left = True
            if self.has_begun:
                _left[self.owner].add(self)
            if self.has_begun and interrupts:
                self._is_interrupted = True
                _interrupt(worker)
        return True

    def settle(self) -> bool:
        """It has ended; False if it was interrupted, or will be in a moment."""
        with self._deciding:
            self._is_over = True
            return not self._is_interrupted

    def forget(self) -> None:
        _left[self.owner].discard(self)


def _close_connections() -> None:
    # Not above: processes that send or compute do without Django.
    from django.conf import settings
    from django.db import connections

    if settings.configured:
        for connection in connections.all(initialized_only=True):
            connection.close()


def _interrupt(thread: threading.Thread) -> None:
    """Has an effect in Python's own code only, not in what waits or works in C."""
    ident = ctypes.c_ulong(thread.ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(_Interrupted))


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="tool", daemon=True)
        self.inbox: SimpleQueue[_Act] = SimpleQueue()

    def run(self) -> None:
        stays = True
        while stays:
            act = self.inbox.get()
            stays = _carried_out(act) and len(_idle) < MOST_IDLE
            if stays:
                # Before the caller wakes up, so that its next call finds us.
                _idle.append(self)
            act.ended.release()
            del act


def _carried_out(act: _Act) -> bool:
    """Whether the thread is to be used again: not if it may yet be interrupted."""
    try:
        try:
            if not act.begin():
                return True
            act.run()
            return act.settle()
        finally:
            act.forget()
    except _Interrupted:
        # Between the lines above; it comes once.
        act.forget()
        return False
