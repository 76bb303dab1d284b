"""After a transactional test the database is again as the migrations left it.

Django's own flush takes the groups and other rows of migrations with it, and on
SQLite it fails on tables whose triggers refuse a DELETE.
"""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import TransactionTestCase


def keep_what_migrations_made() -> None:
    """Call once per test database, when it has been made and is still untouched."""
    if connection.vendor == "sqlite":
        _flush_without_triggers(connections["default"])
    made = connection.creation.serialize_db_to_string()

    def teardown(self: Any) -> None:
        call_command("flush", interactive=False, inhibit_post_migrate=True, verbosity=0)
        connection.creation.deserialize_db_from_string(made)

    setattr(TransactionTestCase, "_fixture_teardown", teardown)  # noqa: B010 - private


def _flush_without_triggers(sqlite: BaseDatabaseWrapper) -> None:
    plain = sqlite.ops.sql_flush

    def sql_flush(*args: Any, **kwargs: Any) -> list[str]:
        with sqlite.cursor() as cursor:
            cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
            triggers = cursor.fetchall()
        dropped = [f'DROP TRIGGER "{name}"' for name, _ in triggers]
        return [*dropped, *plain(*args, **kwargs), *(sql for _, sql in triggers)]

    sqlite.ops.sql_flush = sql_flush  # type: ignore[method-assign]
