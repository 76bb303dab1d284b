"""Claiming, taking over, keeping, deciding and drafting at the same moment."""

from __future__ import annotations

import pytest

from reviews import claims, drafts, stale
from reviews.models import Decision, Draft, Note, Review
from reviews.stale import StaleReview
from runs.tools import registry as tools
from tests.races.test_decide import approving, at_once
from tests.support import factory

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 5


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def three():
    return [factory.make_user(name, "operators") for name in ("ana", "ben", "cy")]


def taking(review, by):
    return lambda: claims.take_over(review.pk, by=by, reason=f"{by} is quicker")


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_of_two_who_take_over_one_does_and_the_other_is_told(three, round_):
    ana, ben, cy = three
    review = factory.park()
    claims.claim(review.pk, by=ana)

    results = at_once(taking(review, ben), taking(review, cy))

    # Both at once: one; one after the other: the second takes it from the first.
    refused = [r for r in results if isinstance(r, StaleReview)]
    holder = Review.objects.get().holder
    assert holder in {ben, cy}
    assert Note.objects.count() == 2 - len(refused)
    assert all(error.holder == holder for error in refused)
    assert Note.objects.latest("pk").author == holder


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_the_holders_decision_and_a_take_over_do_not_both_happen(three, round_):
    ana, ben, _ = three
    review = factory.park()
    claims.claim(review.pk, by=ana)

    decided, taken = at_once(approving(review, ana), taking(review, ben))

    is_decided = isinstance(decided, Decision)
    assert Note.objects.exists() == (not is_decided)
    if is_decided:
        assert isinstance(taken, StaleReview)
        assert Review.objects.get().holder is None
    else:
        assert isinstance(decided, StaleReview)
        assert decided.holder == ben
        assert Review.objects.get().holder == ben


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_a_claim_and_a_take_over_leave_one_holder(three, round_):
    ana, ben, cy = three
    review = factory.park()
    claims.claim(review.pk, by=ana)

    at_once(
        lambda: claims.keep(review.pk, by=ana),
        taking(review, ben),
        lambda: claims.claim(review.pk, by=cy),
    )

    assert Review.objects.get().holder == ben
    assert Note.objects.get().author == ben


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_leaving_and_keeping_at_once_do_not_lose_the_item(three, round_):
    ana, ben, _ = three
    review = factory.park()
    held = claims.claim(review.pk, by=ana)

    at_once(
        lambda: claims.leave(review.pk, by=ana, until=held.holder_until),
        lambda: claims.keep(review.pk, by=ana),
    )

    with pytest.raises(StaleReview):
        claims.claim(review.pk, by=ben)


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_no_draft_outlives_the_decision_it_was_typed_for(three, round_):
    ana = three[0]
    review = factory.park()
    fields = {"text": "No."}

    def saving():
        return drafts.save(review.pk, person=ana, form="reject", fields=fields)

    decided, kept, *_ = at_once(approving(review, ana), saving, saving)

    assert isinstance(decided, Decision)
    assert kept in {True, False}
    assert not Draft.objects.exists()


def test_a_decision_seen_before_a_take_over_is_refused_after_it(three, monkeypatch):
    """The claim is in the UPDATE itself, not only looked at before it."""
    ana, ben, _ = three
    review = factory.park()
    claims.claim(review.pk, by=ana)

    def look_then_lose(seen, by, now):
        stale.refuse_if_held(seen, by, now)
        Review.objects.filter(pk=seen.pk).update(holder=ben)

    monkeypatch.setattr("reviews.services.refuse_if_held", look_then_lose)

    with pytest.raises(StaleReview):
        approving(review, ana)()
    assert not Decision.objects.exists()
