"""Finding rows by the words of their search text: one rule for runs and for reviews.

A row is found when it has every word of the query, or a word that begins so. PostgreSQL
answers from an index of words; SQLite compares texts, so there a part of a word is
enough.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

from django.contrib.postgres.search import SearchQuery
from django.db import connections, models
from django.db.models import F, Func, Q

COLUMN = "search_text"
JOINTS = "@._-/:=+"
"""Taken for spaces, as in the index, so that a part of an address is a word."""
MOST_WORDS = 12

R = TypeVar("R", bound="models.QuerySet[Any]")


class _Has(Func):
    """Do the words of the column match the query?"""

    arg_joiner = " @@ "
    template = "(%(expressions)s)"
    conditional = True
    output_field = models.BooleanField()


class _Words(Func):
    function = "agentops_words"  # of migration runs/0005; the indexes are made of it
    output_field = models.TextField()


class _Stored(Func):
    """The column of words that the database keeps, which Django does not know."""

    output_field = models.TextField()

    def as_sql(self, *args: Any, **kwargs: Any) -> Any:
        sql, values = super().as_sql(*args, **{**kwargs, "template": "%(expressions)s"})
        return sql.replace(f'"{COLUMN}"', '"words"'), values


def matching(rows: R, text: str, *, is_stored: bool = False) -> R:
    """Those that have every word of `text`; none if it has no word at all.

    `is_stored` tells that PostgreSQL keeps the words, in a column beside the text.
    """
    words = words_of(text)
    if not words:
        return rows.none()
    if connections[rows.db].vendor != "postgresql":
        return rows.filter(
            *[Q(**{f"{COLUMN}__icontains": word.lower()}) for word in words]
        )
    query = SearchQuery(prefixes(words), config="simple", search_type="raw")
    words_of_row = _Stored(F(COLUMN)) if is_stored else _Words(F(COLUMN))
    return rows.filter(_Has(words_of_row, query))


def words_of(text: str) -> list[str]:
    """At most `MOST_WORDS` words of what somebody typed, each with a letter or digit."""
    parts = text.translate(str.maketrans(JOINTS, " " * len(JOINTS))).split()
    return [part for part in parts if re.search(r"\w", part)][:MOST_WORDS]


def prefixes(words: list[str]) -> str:
    """A tsquery of words that may go on, such as 'q3':* & 'reven':*; quotes are doubled.

    Each is written as ('q3' | 'q3':* & 'q3':*), which finds the same. PostgreSQL takes
    any beginning for one in fifty rows: too many for a rare word, where it would read
    the whole list, and too few for a common one, where it would sort half the table. Of
    the whole word it knows how common it is, and twice a beginning it takes for none.
    """
    quoted = (word.replace("\\", "\\\\").replace("'", "''") for word in words)
    return " & ".join(f"('{word}' | '{word}':* & '{word}':*)" for word in quoted)
