"""Claiming: one holder at a time, for a while, and nobody is shut out for good."""

from __future__ import annotations

import pytest

from reviews import claims, services
from reviews.models import Review
from reviews.stale import StaleReview
from runs.errors import BadInput, NotPermitted
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def ben():
    return factory.make_user("ben", "operators")


@pytest.fixture
def review():
    return factory.park()


def decide(review, by):
    """As somebody approves who has just looked at the item."""
    seen = {"item_version": review.version, "digest": review.digest}
    return services.decide(review.pk, by=by, kind="approve", **seen)


def test_a_claim_runs_out(review, ana, ben, advance_clock, configured):
    configured(claim_lease_s=600.0)
    claims.claim(review.pk, by=ana)

    advance_clock(601)

    assert claims.claim(review.pk, by=ben).holder == ben
    assert decide(review, ben).actor == ben


def test_a_held_item_cannot_be_claimed_but_taken_over_with_a_reason(review, ana, ben):
    claims.claim(review.pk, by=ana)

    with pytest.raises(StaleReview):
        claims.claim(review.pk, by=ben)
    with pytest.raises(BadInput):
        claims.take_over(review.pk, by=ben, reason=" ")
    assert claims.take_over(review.pk, by=ben, reason="Ana is out").holder == ben


def test_releasing_lets_go_of_ones_own_claim_only(review, ana, ben):
    claims.claim(review.pk, by=ana)

    claims.release(review.pk, by=ben)
    assert Review.objects.get().holder == ana
    claims.release(review.pk, by=ana)
    assert Review.objects.get().holder is None


def test_a_claim_keeps_the_version(review, ana):
    assert claims.claim(review.pk, by=ana).version == review.version


def test_who_may_not_decide_may_not_claim(review):
    with pytest.raises(NotPermitted):
        claims.claim(review.pk, by=factory.make_user("eve", "submitters"))


def test_a_closed_item_cannot_be_claimed(review, ana, ben):
    decide(review, ana)

    with pytest.raises(StaleReview, match="ana has decided"):
        claims.claim(review.pk, by=ben)
