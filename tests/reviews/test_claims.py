"""Claiming: one holder at a time, for a while, and nobody is shut out for good."""

from __future__ import annotations

import pytest

from reviews import claims, services
from reviews.models import Note, Review, Seen
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


# Looking


def test_opening_is_looking_and_is_remembered_once(client, review, ana, advance_clock):
    client.force_login(ana)
    client.get(f"/reviews/{review.pk}/")
    first = Seen.objects.get()

    advance_clock(60)
    client.get(f"/reviews/{review.pk}/pane/")

    kept = Seen.objects.get()
    assert (kept.person, kept.first_at) == (ana, first.first_at)
    assert Review.objects.get().holder is None
    assert Review.objects.get().version == review.version


# Keeping and leaving


def test_a_page_that_is_looked_at_keeps_the_claim(review, ana, ben, advance_clock):
    claims.claim(review.pk, by=ana)
    advance_clock(400)
    claims.keep(review.pk, by=ana)
    advance_clock(400)

    with pytest.raises(StaleReview, match="ana is working on this"):
        claims.claim(review.pk, by=ben)


def test_a_claim_that_has_run_out_is_kept_if_nobody_came(review, ana, advance_clock):
    claims.claim(review.pk, by=ana)
    advance_clock(601)

    assert claims.keep(review.pk, by=ana).holder == ana


def test_keeping_takes_nothing_from_who_came(review, ana, ben, advance_clock):
    claims.claim(review.pk, by=ana)
    advance_clock(601)
    claims.claim(review.pk, by=ben)

    with pytest.raises(StaleReview, match="ben is working on this"):
        claims.keep(review.pk, by=ana)


def test_what_was_let_go_of_is_not_kept(review, ana):
    claims.claim(review.pk, by=ana)
    claims.release(review.pk, by=ana)

    with pytest.raises(StaleReview):
        claims.keep(review.pk, by=ana)
    assert Review.objects.get().holder is None


def test_leaving_the_page_frees_the_item_at_once(review, ana, ben):
    held = claims.claim(review.pk, by=ana)

    claims.leave(review.pk, by=ana, until=held.holder_until)

    assert claims.claim(review.pk, by=ben).holder == ben


def test_leaving_one_page_leaves_what_another_has_renewed(
    review, ana, ben, advance_clock
):
    first = claims.claim(review.pk, by=ana)
    advance_clock(10)
    claims.keep(review.pk, by=ana)

    claims.leave(review.pk, by=ana, until=first.holder_until)

    with pytest.raises(StaleReview):
        claims.claim(review.pk, by=ben)


def test_the_other_page_takes_up_what_the_last_one_left(review, ana):
    held = claims.claim(review.pk, by=ana)
    claims.leave(review.pk, by=ana, until=held.holder_until)

    assert claims.keep(review.pk, by=ana).holder == ana


def test_leaving_ends_nobody_elses_claim(review, ana, ben):
    held = claims.claim(review.pk, by=ana)

    claims.leave(review.pk, by=ben, until=held.holder_until)

    with pytest.raises(StaleReview):
        claims.claim(review.pk, by=ben)


# Taking over


def test_the_reason_for_taking_over_is_kept_with_the_item(review, ana, ben):
    claims.claim(review.pk, by=ana)

    claims.take_over(review.pk, by=ben, reason="Ana is out\x00 today")

    note = Note.objects.get()
    assert (note.author, note.kind, note.review) == (ben, "take_over", review)
    assert note.text.startswith("Ana is out")


def test_what_nobody_holds_is_just_claimed(review, ana, ben, advance_clock):
    claims.claim(review.pk, by=ana)
    advance_clock(601)

    assert claims.take_over(review.pk, by=ben, reason="Ana is out").holder == ben
    assert not Note.objects.exists()


def test_a_reason_has_an_end(review, ana, ben):
    claims.claim(review.pk, by=ana)

    with pytest.raises(BadInput, match="300"):
        claims.take_over(review.pk, by=ben, reason="x" * 301)
    assert Review.objects.get().holder == ana


def test_the_former_holder_does_not_decide_and_is_told_who_holds_it(review, ana, ben):
    claims.claim(review.pk, by=ana)
    claims.take_over(review.pk, by=ben, reason="Ana is out")

    with pytest.raises(StaleReview, match="ben is working on this") as refused:
        decide(review, ana)
    assert refused.value.holder == ben


def test_nothing_about_holding_touches_the_version(review, ana, ben):
    held = claims.claim(review.pk, by=ana)
    claims.keep(review.pk, by=ana)
    claims.leave(review.pk, by=ana, until=held.holder_until)
    claims.claim(review.pk, by=ana)
    claims.take_over(review.pk, by=ben, reason="Ana is out")
    claims.release(review.pk, by=ben)

    assert Review.objects.get().version == review.version
