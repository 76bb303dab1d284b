"""The list of runs: its order, filters, rows that are refreshed, and what is new."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from agentops import clock
from runs.models import Run
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def test_the_list_shows_what_the_person_may_see(as_submitter, people):
    make_run(submitter=people.submitter, task="Count the apples.")
    make_run(task="Count the pears.")

    page = as_submitter.get(reverse("runs:list")).content.decode()

    assert "Count the apples" in page
    assert "pears" not in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=apples", ["apples"]),
        ("state=completed", ["pears"]),
        ("state=active", ["apples"]),
        ("state=nonsense", ["pears", "apples"]),
        ("reason=budget", []),
        ("errors=1", []),
        ("by=submitter", ["apples"]),
    ],
)
def test_filters_are_in_the_address(as_operator, people, query, found):
    task = "Count apples."
    make_run(submitter=people.submitter, task=task, search_text=task.lower())
    ended = {"state": "completed", "outcome": "completed"}
    done = {**ended, "finished_at": clock.now(), "wake_at": None}
    make_run(task="Count pears.", **done)

    runs = as_operator.get(f"{reverse('runs:list')}?{query}").context["page"].runs

    assert [run.task.split()[1].rstrip(".") for run in runs] == found


def test_the_list_is_paged_without_a_gap(as_operator):
    start = clock.now()
    for number in range(30):
        make_run(created_at=start - timedelta(seconds=number // 2))

    first = as_operator.get(reverse("runs:list")).context["page"]
    second = as_operator.get(reverse("runs:list"), {"before": first.older})

    shown = [run.id for run in first.runs + second.context["page"].runs]
    assert len(first.runs) == 25
    assert len(set(shown)) == 30


NOBODY = "~00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize(
    "before",
    [
        "x",
        "x~y",
        "2026-01-01~1",
        "~",
        f"0001-01-01T00:00:00+23:59{NOBODY}",
        f"9999-12-31T23:59:59-23:59{NOBODY}",
    ],
)
def test_a_mangled_place_shows_the_newest(as_operator, before):
    run = make_run()

    page = as_operator.get(reverse("runs:list"), {"before": before}).context["page"]

    assert [shown.id for shown in page.runs] == [run.id]


@pytest.mark.parametrize("query", ["agent=%00", "by=%00", "q=%00"])
def test_characters_that_no_database_keeps_are_not_looked_for(as_operator, query):
    run = make_run()

    answer = as_operator.get(f"{reverse('runs:list')}?{query}")

    assert [shown.id for shown in answer.context["page"].runs] == [run.id]


@pytest.mark.parametrize(
    "newest", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]
)
def test_a_moment_beyond_all_years_brings_no_news(as_operator, newest):
    make_run()

    answer = as_operator.get(reverse("runs:rows"), {"newest": newest})

    assert answer.context["news"] == 0


def test_the_list_takes_few_queries(as_operator, django_assert_max_num_queries):
    for _ in range(30):
        make_run()
    as_operator.get(reverse("runs:list"))

    with django_assert_max_num_queries(10):
        as_operator.get(reverse("runs:list"))


def test_a_refresh_keeps_the_rows_and_counts_the_new_ones(as_operator):
    old = make_run(created_at=clock.now() - timedelta(minutes=1))
    make_run(task="A new one.")

    answer = as_operator.get(
        reverse("runs:rows"),
        {"id": str(old.id), "newest": old.created_at.isoformat()},
        headers=HTMX,
    )

    assert [run.id for run in answer.context["page"].runs] == [old.id]
    assert b"1 new, show it" in answer.content


def test_an_empty_list_shows_the_first_run_as_soon_as_there_is_one(as_operator):
    empty = as_operator.get(reverse("runs:list")).context["page"]
    run = make_run()

    answer = as_operator.get(reverse("runs:rows"), {"newest": empty.newest})

    assert [shown.id for shown in answer.context["page"].runs] == [run.id]
    assert b"1 new" not in answer.content


def test_an_empty_list_is_filled_by_a_run_that_comes_to_fit(as_operator):
    run = make_run(created_at=clock.now() - timedelta(hours=1))
    page = as_operator.get(reverse("runs:list"), {"errors": "1"}).context["page"]
    Run.objects.update(had_error=True)
    sent = {"errors": "1", "newest": page.newest}

    answer = as_operator.get(reverse("runs:rows"), sent)

    assert [shown.id for shown in answer.context["page"].runs] == [run.id]


def test_the_end_of_the_list_is_not_filled_from_its_top(as_operator):
    make_run()
    sent = {"before": f"2020-01-01T00:00:00+00:00{NOBODY}"}
    page = as_operator.get(reverse("runs:list"), sent)

    answer = as_operator.get(reverse("runs:rows"), sent)

    assert "before=2020" in page.content.decode().split('hx-trigger="every 4s"')[0]
    assert b"No older runs" in page.content
    assert b"No older runs" in answer.content


def test_an_empty_list_says_how_it_fills(as_submitter):
    page = as_submitter.get(reverse("runs:list")).content.decode()

    assert "No runs yet" in page
    assert reverse("runs:new") in page
