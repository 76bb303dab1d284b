"""A batch and single decisions at the same moment: each item is decided once."""

from __future__ import annotations

import pytest

from reviews import bulk, services
from reviews.models import Decision, Review
from runs.errors import AgentOpsError
from runs.models import Step
from runs.tools import registry as tools
from tests.races.test_decide import at_once
from tests.support import factory, lookalikes

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 3
ITEMS = 6


@pytest.fixture(autouse=True)
def prices():
    with tools.added(lookalikes.PRICE, lookalikes.SHOP, factory.LETTER):
        yield


@pytest.fixture
def two():
    return factory.make_user("ana", "operators"), factory.make_user("ben", "operators")


@pytest.fixture
def reviews():
    agent = lookalikes.make_agent()
    return [lookalikes.price(number, agent) for number in range(ITEMS)]


def together(reviews, by, kind="approve", **payload):
    items = [bulk.Item.of(review) for review in reviews]
    return lambda: bulk.decide(
        items, by=by, kind=kind, batch=by.username, payload=payload
    )


def alone(reviews, by):
    """One after the other, the last one first; what is taken is passed over."""

    def perform():
        made = []
        for review in reversed(reviews):
            try:
                made.append(reject(review, by))
            except AgentOpsError:
                continue
        return made

    return perform


def reject(review, by):
    return services.decide(
        review.pk,
        by=by,
        kind="reject",
        item_version=1,
        payload={"text": "Not this one."},
    )


def numbers():
    """Of decisions, of steps they made, and of items that are still open."""
    return (
        Decision.objects.count(),
        Step.objects.filter(kind="decision").count(),
        Review.objects.filter(status="open").count(),
    )


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_batch_and_single_decisions_meet(two, reviews, round_):
    ana, ben = two

    receipts, made = at_once(together(reviews, ana), alone(reviews, ben))

    done = [one for one in receipts if one.decision]
    assert len(done) + len(made) == ITEMS
    assert all("ben has decided" in one.why_not for one in receipts if not one.decision)
    assert numbers() == (ITEMS, ITEMS, 0)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_batch_sent_twice_at_once_is_one(two, reviews, round_):
    first, second = at_once(*[together(reviews, two[0])] * 2)

    assert [one.decision for one in first] == [one.decision for one in second]
    assert all(one.decision for one in first)
    assert numbers() == (ITEMS, ITEMS, 0)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_two_batches_of_two_people_share_the_items(two, reviews, round_):
    ana, ben = two
    opposite = list(reversed(reviews))

    receipts = at_once(
        together(reviews, ana), together(opposite, ben, "reject", text="No.")
    )

    done = [one.decision for batch in receipts for one in batch if one.decision]
    assert len(done) == ITEMS
    assert numbers() == (ITEMS, ITEMS, 0)
