"""Is it the database that is away, or a mistake of ours?"""

from __future__ import annotations

from django.db.utils import InterfaceError, OperationalError


def is_outage(error: BaseException | None) -> bool:
    """Does this tell of a database that does not answer, is busy or full?

    SQLite says OperationalError of a wrong statement too, which is no outage.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    return getattr(error.__cause__, "sqlite_errorname", "") != "SQLITE_ERROR"


def first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
