"""The one place that tells the time.

`now()` is this host's clock plus two offsets: what was measured against the
database's clock on PostgreSQL (all hosts then agree on when a lease ends), and
what a test has added. Neither is looked up while telling the time; a driver
calls `sync(connection)` now and then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Lock

from django.db.backends.base.base import BaseDatabaseWrapper

RESYNC_S = 30.0

_lock = Lock()
_database_offset_s = 0.0
_test_offset_s = 0.0
_synced_at: float | None = None


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.fromtimestamp(timestamp(), UTC)


def timestamp() -> float:
    """The present moment in seconds since 1970."""
    return time.time() + _database_offset_s + _test_offset_s


def later(seconds: float) -> datetime:
    return now() + timedelta(seconds=seconds)


def sync(connection: BaseDatabaseWrapper) -> None:
    """Measure this host against the database's clock, at most every 30 s.

    Asks the database only on PostgreSQL: SQLite runs on this host's clock.
    One round trip; safe to call from any thread, outside or inside a
    transaction (`clock_timestamp()` moves on within one).
    """
    global _synced_at, _database_offset_s
    if connection.vendor != "postgresql":
        return
    with _lock:
        if _synced_at is not None and time.monotonic() - _synced_at < RESYNC_S:
            return
        _synced_at = time.monotonic()
    _database_offset_s = _measure(connection)


def _measure(connection: BaseDatabaseWrapper) -> float:
    """Seconds the database is ahead, taking half the round trip as the way."""
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
        (database,) = cursor.fetchone()
    return float(database) - (before + time.time()) / 2


@contextmanager
def advance(seconds: float) -> Iterator[None]:
    """For tests: inside the block it is that much later. Blocks add up."""
    global _test_offset_s
    _test_offset_s += seconds
    try:
        yield
    finally:
        _test_offset_s -= seconds
