"""The places for drivers on this host: one locked file each.

The kernel frees a lock when the process that holds it ends, however it ends; so
whoever gets a slot's lock knows that the driver before is dead. Slot 0 is the main
process of `manage.py worker`, then come the drivers', and last the one for suspects.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import time
import uuid
from pathlib import Path

from django.conf import settings

MAIN = 0
ASKING_S = 0.02

_open_files: set[int] = set()


class Slot:
    """A held lock; `free` gives it up, the end of the process does so too."""

    def __init__(self, number: int, descriptor: int) -> None:
        self.number = number
        self._descriptor = descriptor
        _open_files.add(descriptor)

    def free(self) -> None:
        _open_files.discard(self._descriptor)
        # Said aloud: a child that is being forked may still have the file open.
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)


def take(number: int) -> Slot | None:
    """The slot of this number, or None if a living process has it."""
    descriptor = os.open(_folder() / str(number), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return Slot(number, descriptor)


def take_first(numbers: range) -> Slot | None:
    """The first free slot among these."""
    for is_last_try in (False, True):
        for number in numbers:
            if slot := take(number):
                return slot
        if not is_last_try:
            # Somebody may have been asking whether it is free in this very moment.
            time.sleep(ASKING_S)
    return None


def is_free(number: int) -> bool:
    """Is there no living process in this slot? Asks without being in its way."""
    descriptor = os.open(_folder() / str(number), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def of_drivers() -> range:
    """One worker process is kept for short tasks, the others may be drivers."""
    return range(1, int(settings.Q_CLUSTER["workers"]))


def of_suspects() -> range:
    last = int(settings.Q_CLUSTER["workers"])
    return range(last, last + 1)


def host() -> str:
    """This host's name, and what tells folders of locks apart.

    Two installations may share a host's name, as containers do; the locks only tell
    about processes that use the same folder.
    """
    return f"{socket.gethostname()[:80]}/{_folder_id()}"


def _folder() -> Path:
    folder = Path(settings.VAR_DIR) / "slots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _folder_id() -> str:
    """Written by whoever comes first, under the file's own lock."""
    with (_folder() / "id").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        found = file.read()
        if not found:
            found = uuid.uuid4().hex[:12]
            file.write(found)
    return found


def _close_in_child() -> None:
    """A forked child must not keep a lock alive that its parent held."""
    for descriptor in _open_files:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _open_files.clear()


os.register_at_fork(after_in_child=_close_in_child)
