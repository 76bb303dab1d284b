"""After a transactional test the database is again as the migrations left it.

Django's own flush takes the groups and other rows of migrations with it, and on
SQLite it fails on tables whose triggers refuse a DELETE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase


def keep_what_migrations_made() -> None:
    """Call once per test database, when it has been made and is still untouched."""
    made = connection.creation.serialize_db_to_string()

    def teardown(self: Any) -> None:
        call_command(
            "flush",
            interactive=False,
            inhibit_post_migrate=True,
            reset_sequences=False,  # what is put back keeps its numbers
            verbosity=0,
        )
        connection.creation.deserialize_db_from_string(made)

    # On the classes: a thread with an event loop has a connection object of its own.
    setattr(TransactionTestCase, "_fixture_teardown", teardown)  # noqa: B010 - private
    if connection.vendor == "sqlite":
        operations = type(connection.ops)
        flush = _without_triggers(operations.sql_flush)
        setattr(operations, "sql_flush", flush)  # noqa: B010 - a method


def _without_triggers(sql_flush: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """The same statements, with SQLite's triggers away meanwhile."""

    def around(self: Any, *args: Any, **kwargs: Any) -> list[str]:
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
        dropped = [f'DROP TRIGGER "{name}"' for name, _ in triggers]
        made_again = [sql for _, sql in triggers]
        return [*dropped, *sql_flush(self, *args, **kwargs), *made_again]

    return around
