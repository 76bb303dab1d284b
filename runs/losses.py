"""The database that goes away: what tells of it, and whether it is back."""

from __future__ import annotations

from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

DATABASE_LOST = (OperationalError, InterfaceError)


def takes_writes(write: Callable[[], object]) -> bool:
    """Connect anew and write this. A database that is away refuses it, and one whose
    disk is full, which still answers. Ends what this connection had begun."""
    try:
        connection.close()
        write()
    except DATABASE_LOST:
        return False
    return True
