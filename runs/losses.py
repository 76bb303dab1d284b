"""The database that goes away: what tells of it, and whether it is back."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError, connection

DATABASE_LOST = (OperationalError, InterfaceError)


def database_answers() -> bool:
    """Connect anew; True if that is possible. Ends what this connection had begun."""
    try:
        connection.close()
        connection.ensure_connection()
    except DATABASE_LOST:
        return False
    return True
