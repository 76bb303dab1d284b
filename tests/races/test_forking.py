"""A run is forked at the moment somebody else decides on it: one of them wins."""

from __future__ import annotations

import pytest

from reviews import services, undo
from reviews.models import Decision, Review
from reviews.stale import StaleReview
from runs import services as run_services
from runs.models import Run
from tests.races.test_decide import ROUNDS, at_once, letters, two  # noqa: F401
from tests.support import factory

pytestmark = pytest.mark.django_db(transaction=True)


def deciding(review, by, kind, payload=None):
    return lambda: services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload=payload or {},
    )


def forking(review, by):
    return deciding(review, by, "fork", {"step": "2"})


@pytest.mark.parametrize("_", range(ROUNDS))
def test_a_fork_and_an_approval_do_not_both_go_on(two, _):  # noqa: F811
    review = factory.park()

    results = at_once(forking(review, two[0]), deciding(review, two[1], "approve"))

    decision = Decision.objects.get()
    run = Run.objects.get(pk=review.run_id)
    forks = Run.objects.filter(forked_from=run).count()
    assert sorted(map(type, results), key=str) == [Decision, StaleReview]
    assert (decision.kind, forks, run.state) in {
        ("fork", 1, "aborted"),
        ("approve", 0, "executing"),
    }


@pytest.mark.parametrize("_", range(ROUNDS))
def test_two_people_fork_once(two, _):  # noqa: F811
    review = factory.park()

    at_once(forking(review, two[0]), forking(review, two[1]))

    assert Run.objects.filter(forked_from=review.run_id).count() == 1
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("_", range(ROUNDS))
def test_a_run_that_is_cancelled_meanwhile_is_forked_whole_or_not(two, _):  # noqa: F811
    review = factory.park()

    at_once(
        forking(review, two[0]),
        lambda: run_services.cancel(review.run_id, by=two[1], reason="No."),
    )

    forks = Run.objects.filter(forked_from=review.run_id)
    assert Run.objects.get(pk=review.run_id).state == "aborted"
    assert forks.count() == Decision.objects.count()
    assert [fork.steps.count() for fork in forks] in ([], [1])


@pytest.mark.parametrize("_", range(ROUNDS))
def test_what_is_taken_back_is_forked_after_it_or_not_at_all(
    two,  # noqa: F811
    configured,
    _,
):
    configured(undo_irreversible_s=30.0)
    review = factory.park()
    deciding(review, two[0], "approve")()
    again = Review.objects.get(pk=review.pk)
    again.version += 1

    results = at_once(lambda: undo.undo(review.pk, by=two[0]), forking(again, two[0]))

    assert isinstance(results[0], Review)
    standing = Decision.objects.filter(undone_at=None)
    assert standing.count() == Run.objects.filter(forked_from=review.run_id).count()
