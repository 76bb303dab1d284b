"""The tables of before the reviewer's desk, and back to them, with rows in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from django.apps.registry import Apps
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from reviews import afterwards, notes
from reviews.models import Review
from runs.models import AgentVersion, Run
from runs.states import RunState
from runs.tools import registry as tools
from tests.support import factory

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = [("runs", "0002_guards"), ("reviews", "0003_groups")]


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


def migrate(targets: list[tuple[str, str]]) -> Apps:
    """The models as they were there."""
    executor = MigrationExecutor(connection)
    return executor.migrate(targets).apps


def newest() -> list[tuple[str, str]]:
    graph = MigrationExecutor(connection).loader.graph
    return [key for key in graph.leaf_nodes() if key[0] in {"runs", "reviews"}]


@contextmanager
def as_before() -> Iterator[Apps]:
    """The database as it was in the block; whatever happens there, it comes back."""
    here = newest()
    try:
        yield migrate(BEFORE)
    finally:
        migrate(here)


def refuses_to_change_a_version() -> bool:
    try:
        with transaction.atomic():
            AgentVersion.objects.update(config={})
    except DatabaseError:
        return True
    return False


@dataclass(frozen=True)
class Before:
    """The rows that make the journey. It takes seconds, so they make it together."""

    parked: Review
    judged: Review
    aborted: Run
    failed: Run


def make_rows() -> Before:
    parked = factory.park()
    ana = factory.make_user("ana", "operators")
    notes.add(parked, by=ana, text="Ask finance")
    factory.let_through()
    afterwards.open_reviews()
    judged = Review.objects.exclude(pk=parked.pk).get()
    aborted, failed = factory.make_run(), factory.make_run()
    factory.change_state(aborted, RunState.ABORTED)
    factory.change_state(failed, RunState.ERROR)
    return Before(parked, judged, aborted, failed)


def test_rows_go_there_and_back():
    rows = make_rows()

    with as_before() as then:
        reviews = then.get_model("reviews", "Review").objects
        a_parked_run_and_its_review_were_there_before(reviews, rows.parked)
        what_is_judged_afterwards_does_not_stop_the_way_back(reviews, rows)
        assert refuses_to_change_a_version()

    a_parked_run_and_its_review_came_back(rows.parked)
    what_has_ended_is_found_by_how_it_ended(rows)
    assert refuses_to_change_a_version()


def a_parked_run_and_its_review_were_there_before(reviews, parked: Review) -> None:
    old = reviews.get(pk=parked.pk)
    assert (old.status, old.title) == ("open", parked.title)
    assert old.run.state == "awaiting_human"
    assert not hasattr(old, "rank_at")


def a_parked_run_and_its_review_came_back(parked: Review) -> None:
    now = Review.objects.select_related("run").get(pk=parked.pk)
    assert (now.tool, now.agent_id) == ("post_letter", parked.agent_id)
    assert now.rank_at == now.due_at == parked.due_at
    assert (now.kind, now.expires_at, now.seal) == ("waiting", None, parked.seal)
    assert now.run.park == parked.run.park
    assert not now.notes.exists()


def what_is_judged_afterwards_does_not_stop_the_way_back(reviews, rows: Before) -> None:
    assert set(reviews.values_list("pk", flat=True)) >= {rows.parked.pk, rows.judged.pk}


def what_has_ended_is_found_by_how_it_ended(rows: Before) -> None:
    ends = Run.objects.values_list("outcome", "had_error")
    assert ends.get(pk=rows.aborted.pk) == ("aborted", False)
    assert ends.get(pk=rows.failed.pk) == ("error", True)
