"""A query that comes with every request: its SQL is built once for each database.

Django takes several times as long to build such SQL as a database to answer it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import QuerySet

Rows = list[tuple[Any, ...]]

PLACE = -2_147_483_647
"""Stands for the number while SQL is built: a key that no row has."""


class Prepared:
    """`build` makes a query about the row of one key, as `values_list`.

    It is called once: what it reads beside the key stays as it was then. The key has to
    be a parameter of the SQL. Rows come as the driver gives them, so that it selects
    whole numbers and text only.
    """

    def __init__(self, build: Callable[[int], QuerySet[Any, Any]]) -> None:
        self._build = build
        self._built: dict[str, tuple[str, tuple[Any, ...]]] = {}

    def rows(self, key: int) -> Rows:
        """One query; ValueError where `build` does not ask for the key."""
        sql, params = self._sql()
        with connection.cursor() as cursor:
            cursor.execute(sql, [key if param == PLACE else param for param in params])
            return list(cursor.fetchall())

    def _sql(self) -> tuple[str, tuple[Any, ...]]:
        if connection.vendor not in self._built:
            sql, params = self._build(PLACE).query.sql_with_params()
            if PLACE not in params:
                raise ValueError("The query does not take its key as a parameter.")
            self._built[connection.vendor] = sql, params
        return self._built[connection.vendor]
