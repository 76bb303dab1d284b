"""An item expires at the moment somebody decides on it: one of both happens."""

from __future__ import annotations

import pytest

from agentops import clock
from reviews import expiring
from reviews.models import Decision, Review
from runs.errors import AgentOpsError
from tests.races.test_decide import approving, at_once, letters, two  # noqa: F401
from tests.support import factory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("late_ms", [0, 1, 2, 4, 8, 16])
def test_of_an_expiry_and_a_decision_one_happens(two, late_ms):  # noqa: F811
    review = factory.park()
    expires_at = clock.later(0.05)
    Review.objects.update(expires_at=expires_at)

    def at_the_end(act, after_ms):
        def perform():
            while clock.timestamp() < expires_at.timestamp() + after_ms / 1000 - 0.01:
                pass
            return act()

        return perform

    results = at_once(
        at_the_end(approving(review, two[0]), late_ms),
        at_the_end(expiring.expire, 10),
    )

    review.refresh_from_db()
    is_decided = isinstance(results[0], Decision)
    assert is_decided or isinstance(results[0], AgentOpsError)
    while expiring.is_due():
        expiring.expire()
    review.refresh_from_db()
    assert Decision.objects.count() == is_decided
    assert review.status == ("decided" if is_decided else "expired")


def test_an_expired_item_is_asked_again_once(two):  # noqa: F811
    review = factory.park()
    Review.objects.update(expires_at=clock.now())
    expiring.expire()

    results = at_once(
        *[lambda by=by: expiring.ask_again(review.pk, by=by) for by in two]
    )

    assert sum(isinstance(result, Review) for result in results) == 1
    assert Review.objects.get().status == "open"
