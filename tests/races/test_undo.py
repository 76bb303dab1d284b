"""A decision is taken back at the moment somebody else acts on it: one of them wins."""

from __future__ import annotations

import time

import pytest

from agentops import clock
from reviews import services, undo
from reviews.models import Decision, Review
from reviews.stale import StaleReview
from runs import leases
from runs import services as run_services
from runs.models import Run, Step, Transition
from tests.races.test_decide import at_once, letters, two  # noqa: F401
from tests.support import factory

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 8
DRIVER = "race:1:driver"


@pytest.fixture
def decided(two, configured):  # noqa: F811
    """An approval of ana's, and for how long it can be taken back."""

    def decide(window_s):
        configured(undo_irreversible_s=window_s)
        review = factory.park()
        decision = services.decide(
            review.pk,
            by=two[0],
            kind="approve",
            item_version=1,
            digest=review.digest,
        )
        return review, decision

    return decide


def undoing(review, by):
    return lambda: undo.undo(review.pk, by=by)


def claiming(until):
    """What a driver does: look for due runs again and again."""

    def claim():
        while clock.now() < until:
            if claimed := leases.claim(DRIVER, 10):
                return claimed
        return []

    return claim


@pytest.mark.parametrize("early_ms", range(ROUNDS))
def test_of_an_undo_and_a_driver_one_gets_the_run(two, decided, early_ms):  # noqa: F811
    review, decision = decided(0.3)
    ana = two[0]

    def undo_at_the_last_moment():
        at = decision.effective_at.timestamp() - early_ms / 1000
        time.sleep(max(at - clock.timestamp(), 0))
        return undo.undo(review.pk, by=ana)

    until = clock.later(1.5)
    undone, claimed = at_once(undo_at_the_last_moment, claiming(until))

    run = Run.objects.get(pk=review.run_id)
    decision.refresh_from_db()
    if isinstance(undone, StaleReview):
        assert claimed == [run.pk]
        assert (run.state, run.lease_owner) == ("executing", DRIVER)
        assert decision.undone_at is None
        assert Review.objects.get().status == "decided"
    else:
        assert claimed == []
        assert (run.state, run.lease_owner) == ("awaiting_human", "")
        assert decision.undone_at is not None
        assert Review.objects.get().status == "open"
    assert Step.objects.filter(run=run).count() == run.sequence


@pytest.mark.parametrize("round_", range(3))
def test_a_decision_is_taken_back_once(two, decided, round_):  # noqa: F811
    review, _ = decided(30)

    results = at_once(*[undoing(review, two[0])] * 3)

    assert sum(isinstance(result, Review) for result in results) == 1
    assert sum(isinstance(result, StaleReview) for result in results) == 2
    assert Step.objects.filter(run=review.run, name="undo").count() == 1


@pytest.mark.parametrize("round_", range(3))
def test_an_undo_and_a_cancelled_run_leave_one_end(two, decided, round_):  # noqa: F811
    review, _ = decided(30)
    run = review.run

    def cancelling():
        run_services.cancel(run.pk, by=run.submitter, reason="Not needed.")

    at_once(undoing(review, two[0]), cancelling)

    run.refresh_from_db()
    assert run.state == "aborted"
    undone = Decision.objects.get().undone_at is not None
    assert Review.objects.get().status == ("cancelled" if undone else "decided")
    back = Transition.objects.filter(run=run, to_state="awaiting_human", actor="ana")
    assert back.count() == undone
