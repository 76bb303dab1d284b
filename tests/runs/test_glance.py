"""A page that watches a run is drawn anew when the run has moved, and not before."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentops import clock
from runs import glance
from runs.models import Run
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db

MOVES = {
    "state": "executing",
    "sequence": 7,
    "tokens": 1,
    "cost": Decimal("0.01"),
    "wake_at": None,
    "plan_revision": 3,
}


@pytest.fixture(autouse=True)
def still(monkeypatch):
    """No tick falls into a test, however slow the machine."""
    monkeypatch.setattr(glance, "TICK_S", 10**10)


@pytest.fixture
def watcher(client, people):
    client.force_login(people.submitter)
    return client


@pytest.fixture
def run(people) -> Run:
    return make_run(submitter=people.submitter, state="observing", sequence=2)


def ask(client, run: Run, seen: str):
    return client.get(reverse("runs:live", args=[run.id]), {"seen": seen})


def seen_in(page) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', page.content.decode())
    assert found
    return found[1]


def test_a_page_that_shows_the_run_as_it_is_hears_nothing(watcher, run):
    seen = seen_in(watcher.get(reverse("runs:detail", args=[run.id])))

    assert ask(watcher, run, seen).status_code == 204


@pytest.mark.parametrize("field", MOVES)
def test_each_move_is_shown_once(watcher, run, field):
    seen = seen_in(ask(watcher, run, ""))
    Run.objects.filter(pk=run.pk).update(**{field: MOVES[field]})

    anew = ask(watcher, run, seen)

    assert anew.status_code == 200
    assert ask(watcher, run, seen_in(anew)).status_code == 204


def test_times_that_go_on_are_drawn_anew_after_a_tick(
    watcher, run, monkeypatch, advance_clock
):
    monkeypatch.setattr(glance, "TICK_S", 3)
    seen = seen_in(ask(watcher, run, ""))

    advance_clock(3)

    assert ask(watcher, run, seen).status_code == 200


def test_the_seconds_to_a_moment_it_waits_for_are_drawn_as_they_pass(
    watcher, run, advance_clock
):
    Run.objects.filter(pk=run.pk).update(wake_at=clock.later(50))
    seen = seen_in(ask(watcher, run, ""))

    advance_clock(1)

    assert ask(watcher, run, seen).status_code == 200


def test_a_longer_wait_is_told_in_minutes_and_not_drawn_each_second(
    watcher, run, advance_clock
):
    Run.objects.filter(pk=run.pk).update(wake_at=clock.later(600))
    seen = seen_in(ask(watcher, run, ""))

    advance_clock(1)

    assert ask(watcher, run, seen).status_code == 204


def test_the_end_is_told_whatever_was_seen(watcher, run):
    seen = seen_in(ask(watcher, run, ""))
    over = {"state": "completed", "finished_at": clock.now(), "wake_at": None}
    Run.objects.filter(pk=run.pk).update(**over)

    assert ask(watcher, run, seen).status_code == 286


def test_a_right_stamp_opens_no_run_of_others(watcher, people):
    foreign = make_run(submitter=people.other_submitter, state="observing")
    stamp = glance.stamp(Run.objects.get(pk=foreign.pk))

    assert ask(watcher, foreign, stamp).status_code == 404


def test_nothing_new_takes_one_query_of_the_run(run, people):
    people.submitter.get_all_permissions()
    stamp = glance.stamp(Run.objects.get(pk=run.pk))

    with CaptureQueriesContext(connection) as captured:
        assert glance.is_as_seen(people.submitter, run.id, stamp)

    assert len(captured) == 1


def test_a_worker_that_takes_the_run_is_a_move(watcher, run):
    seen = seen_in(ask(watcher, run, ""))
    until = clock.now() + timedelta(seconds=30)
    Run.objects.filter(pk=run.pk).update(lease_until=until)

    assert ask(watcher, run, seen).status_code == 200
