"""The tables of before the reviewer's desk, and back to them, with rows in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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


def test_a_parked_run_and_its_review_go_there_and_back():
    review = factory.park()
    ana = factory.make_user("ana", "operators")
    notes.add(review, by=ana, text="Ask finance")

    with as_before() as then:
        old = then.get_model("reviews", "Review").objects.get()
        assert (old.pk, old.status, old.title) == (review.pk, "open", review.title)
        assert old.run.state == "awaiting_human"
        assert not hasattr(old, "rank_at")

    now = Review.objects.select_related("run").get()
    assert (now.tool, now.agent_id) == ("post_letter", review.agent_id)
    assert now.rank_at == now.due_at == review.due_at
    assert (now.kind, now.expires_at, now.seal) == ("waiting", None, review.seal)
    assert now.run.park == review.run.park
    assert not now.notes.exists()


def test_what_has_ended_is_found_by_how_it_ended():
    aborted, failed = factory.make_run(), factory.make_run()
    factory.change_state(aborted, RunState.ABORTED)
    factory.change_state(failed, RunState.ERROR)

    with as_before():
        pass

    ends = Run.objects.values_list("outcome", "had_error")
    assert set(ends) == {("aborted", False), ("error", True)}


def test_what_is_judged_afterwards_does_not_stop_the_way_back():
    factory.let_through()
    afterwards.open_reviews()

    with as_before() as then:
        assert then.get_model("reviews", "Review").objects.count() == 1


def test_a_version_is_never_changed_before_and_after():
    factory.make_run()

    with as_before():
        assert refuses_to_change_a_version()

    assert refuses_to_change_a_version()
