"""Two decisions at the same moment, on two connections: one wins, one is told."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connections, transaction

from reviews import claims, services
from reviews.models import Decision, Review
from reviews.stale import StaleReview
from runs import services as run_services
from runs.errors import AgentOpsError
from runs.models import Run, Step, Transition
from runs.tools import registry as tools
from tests.support import factory
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 5


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def two():
    return factory.make_user("ana", "operators"), factory.make_user("ben", "operators")


def at_once(*acts):
    """Start them all at the same moment, each on a connection of its own.

    Returns what each returned, or the product's error it raised.
    """
    gate = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)

    def perform(number, act):
        gate.wait(10)
        try:
            results[number] = act()
        except AgentOpsError as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=perform, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return results


def approving(review, by):
    return lambda: services.decide(
        review.pk, by=by, kind="approve", item_version=1, digest=review.digest
    )


def rejecting(review, by):
    return lambda: services.decide(
        review.pk,
        by=by,
        kind="reject",
        item_version=1,
        payload={"text": "No."},
    )


def decided_steps(review):
    return Step.objects.filter(run=review.run, kind="decision").count()


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_h02_of_an_approval_and_a_rejection_one_wins(two, round_):
    ana, ben = two
    review = factory.park()

    results = at_once(approving(review, ana), rejecting(review, ben))

    (lost,) = [r for r in results if isinstance(r, AgentOpsError)]
    (won,) = [r for r in results if isinstance(r, Decision)]
    assert isinstance(lost, StaleReview)
    assert lost.decision == won
    assert Decision.objects.get() == won
    assert decided_steps(review) == 1


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_h01_a_double_click_is_one_decision(two, round_):
    review = factory.park()

    results = at_once(*[approving(review, two[0])] * 4)

    assert len({decision.pk for decision in results}) == 1
    assert decided_steps(review) == 1
    assert _left(review) == 1


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_decision_and_a_cancelled_run_do_not_both_happen(two, round_):
    review = factory.park()
    run, ana = review.run, two[0]

    def cancelling():
        run_services.cancel(run.pk, by=run.submitter, reason="Not needed.")

    at_once(approving(review, ana), cancelling)

    run.refresh_from_db()
    review = Review.objects.get()
    assert run.state == "aborted"
    assert review.status in {"decided", "cancelled"}
    is_decided = review.status == "decided"
    assert Decision.objects.count() == is_decided
    assert decided_steps(review) == is_decided


@pytest.mark.postgres
def test_a_decision_that_waits_for_the_run_holds_no_review(two):
    """Else it and whoever has the run would wait for each other for ever."""
    review = factory.park()
    deciding = threading.Thread(target=_and_close(approving(review, two[0])))

    with transaction.atomic():
        Run.objects.select_for_update().get(pk=review.run_id)
        deciding.start()
        wait_until(_somebody_waits, what="the decision waiting for the run")
        Review.objects.select_for_update(nowait=True).get(pk=review.pk)

    deciding.join(10)
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_an_item_is_claimed_by_one(two, round_):
    review = factory.park()

    results = at_once(*[lambda by=by: claims.claim(review.pk, by=by) for by in two])

    assert sum(isinstance(result, StaleReview) for result in results) == 1
    assert Review.objects.get().holder in two


def _left(review):
    """How often the run left its park."""
    return Transition.objects.filter(
        run=review.run, from_state="awaiting_human"
    ).count()


def _and_close(act):
    """The act as a thread of its own does it."""

    def perform():
        try:
            act()
        finally:
            connections.close_all()

    return perform


def _somebody_waits():
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()
