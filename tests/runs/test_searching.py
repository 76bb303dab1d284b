"""Searching: the same words find the same rows on both databases."""

from __future__ import annotations

import pytest
from django.db import connection

from runs import searching
from runs.models import Run
from tests.support import factory

TEXT = (
    "Send the Q3 summary to analytics@company.com; revenue 1,895,000 "
    "(it's 37.3 % up). Straße ÜBER naïve"
).lower()


@pytest.fixture
def run(db):
    return factory.make_run(search_text=TEXT)


@pytest.mark.parametrize(
    "query",
    [
        "summary",
        "SUMMARY",
        "summ",
        "summary q3",
        "analytics@company.com",
        "company.com",
        "company",
        "1,895,000",
        "37.3",
        "it's",
        "über",
        "straße",
        "revenue: 1,895",
        "\\ summary",
    ],
)
def test_a_row_is_found_by_its_words_and_their_beginnings(run, query):
    assert list(searching.matching(Run.objects.all(), query)) == [run]


@pytest.mark.parametrize(
    "query", ["summary zebra", "zebra", "", " ", "@ - '", "'':*", "!(summary)|zebra"]
)
def test_other_words_and_none_find_nothing(run, query):
    assert not searching.matching(Run.objects.all(), query).exists()


@pytest.mark.parametrize("query", ["'", "\\", "a & b | !c <-> 'd':*", "%", "_", "\x00"])
def test_no_query_is_an_error(run, query):
    assert list(searching.matching(Run.objects.all(), query)) in ([], [run])


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("table", "document"),
    [("runs_run", "agentops_words(search_text)"), ("reviews_review", "words")],
)
def test_an_index_answers(db, table, document):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            f"EXPLAIN SELECT 1 FROM {table} WHERE {document}"  # noqa: S608
            " @@ to_tsquery('simple', 'summary:*')"
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "_words" in plan
