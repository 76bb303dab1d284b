"""No process of a worker outlives the one that forked it.

Linux kills a child with its parent if asked to (PDEATHSIG); elsewhere a thread in
the child looks whether the parent is still there. So a main process or sentinel that
is killed leaves no orphan that goes on taking tasks.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG = 1
LOOK_S = 0.5

_parent = 0


def tie_children() -> None:
    """From now on every child forked by this process, and theirs, dies with it."""
    os.register_at_fork(before=_remember, after_in_child=_in_child)


def _remember() -> None:
    global _parent
    _parent = os.getpid()


def _in_child() -> None:
    _forget_connection_pools()
    if _libc is None:
        threading.Thread(target=_watch, args=(_parent,), daemon=True).start()
        return
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != _parent:
        # It died before we could ask.
        os._exit(os.EX_TEMPFAIL)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(os.EX_TEMPFAIL)


def _forget_connection_pools() -> None:
    """A pool's threads do not survive the fork, and its sockets are the parent's."""
    postgresql = sys.modules.get("django.db.backends.postgresql.base")
    if postgresql is not None:
        postgresql.DatabaseWrapper._connection_pools = {}


_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
