"""What is sent is still wanted: reminders, follow-ups, and what an undo changes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from agentops import clock
from reviews import outbox, telling
from reviews.models import Notification, Review
from reviews.models.review import ReviewStatus
from runs.states import RunState
from tests.reviews.told import HIGH, HOUR, abort, delivered, subjects
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def test_reminders_come_at_half_and_at_nine_tenths(ana, advance_clock):
    factory.park(reason=HIGH)
    delivered()

    advance_clock(HOUR / 2 - 30)
    assert delivered() == []
    advance_clock(31)
    (half,) = delivered()
    advance_clock(HOUR * 0.4)
    (late,) = delivered()

    assert half.startswith("Half of its time is over: ")
    assert late.startswith("Nearly overdue: ")


def test_who_sees_every_run_hears_of_what_is_overdue(ana, advance_clock):
    factory.make_user("bo", "admins")
    factory.park(reason=HIGH)

    for _ in range(3):
        advance_clock(HOUR / 2)
        outbox.deliver()

    assert [s for s in subjects("bo") if s.startswith("Overdue: ")] != []
    assert [s for s in subjects("ana") if s.startswith("Overdue: ")] == []


def test_no_reminder_of_what_is_decided(ana, advance_clock):
    review = factory.park(reason=HIGH)
    delivered()
    abort(review, ana)

    advance_clock(HOUR)

    assert delivered() == []
    rows = Notification.objects.exclude(event="opened")
    assert {row.status for row in rows} == {"dropped"}


def test_a_late_first_word_takes_the_place_of_the_reminders(ana, advance_clock):
    factory.park()
    advance_clock(4 * HOUR)

    assert len(delivered()) == 1
    assert delivered() == []


def test_no_reminder_while_the_first_word_is_still_being_tried(ana, advance_clock):
    factory.park(reason=HIGH)
    later = clock.now() + timedelta(hours=2)
    Notification.objects.filter(event="opened").update(attempts=1, next_at=later)

    advance_clock(HOUR / 2 + 1)

    assert delivered() == []
    assert Notification.objects.get(event="reminder_half").status == "dropped"


def test_who_was_told_hears_what_was_decided(ana, advance_clock):
    ben = factory.make_user("ben", "operators")
    review = factory.park(reason=HIGH)
    delivered()

    abort(review, ben)
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)

    assert delivered("ana") == [
        "Aborted by ben: Post letter: Post to analytics@example.com"
    ]
    assert [s for s in subjects("ben") if "Aborted" in s] == []


def test_who_was_not_told_yet_hears_nothing(ana, advance_clock):
    review = factory.park()
    abort(review, factory.make_user("ben", "operators"))
    advance_clock(HOUR + 1)

    assert delivered() == []


def test_decisions_made_in_one_go_are_told_in_one_message(ana, advance_clock):
    ben = factory.make_user("ben", "operators")
    reviews = [factory.park(), factory.park()]
    advance_clock(HOUR + 1)
    delivered()

    for review in reviews:
        abort(review, ben)
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)

    assert delivered() == ["2 items are closed"]


def test_an_aborted_run_closes_its_item(ana, advance_clock):
    review = factory.park(reason=HIGH)
    delivered()

    factory.change_state(review.run, RunState.ABORTED)
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)

    (subject,) = delivered()
    assert subject.startswith("Closed without a decision: ")


def test_a_decision_that_can_be_undone_is_told_when_it_holds(ana, advance_clock):
    ben = factory.make_user("ben", "operators")
    review = factory.park(reason=HIGH)
    delivered()
    decision = abort(review, ben)
    later = clock.now() + timedelta(seconds=60)
    type(decision).objects.filter(pk=decision.pk).update(effective_at=later)

    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)
    assert delivered() == []
    advance_clock(60)

    assert len(delivered()) == 1


def reopen(review, decision):
    """What taking a decision back comes to for the outbox."""
    type(decision).objects.filter(pk=decision.pk).update(undone_at=clock.now())
    Review.objects.filter(pk=review.pk).update(
        status=ReviewStatus.OPEN.value, closed_at=None
    )


def test_after_an_undo_reminders_come_and_no_follow_up(ana, advance_clock):
    ben = factory.make_user("ben", "operators")
    review = factory.park(reason=HIGH)
    delivered()
    reopen(review, abort(review, ben))

    advance_clock(HOUR / 2 + 1)

    (subject,) = delivered()
    assert subject.startswith("Half of its time is over")


def test_what_is_decided_again_after_an_undo_is_followed_up(ana, advance_clock):
    ben = factory.make_user("ben", "operators")
    review = factory.park(reason=HIGH)
    delivered()
    reopen(review, abort(review, ben))
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)
    assert delivered() == []

    Review.objects.filter(pk=review.pk).update(
        status=ReviewStatus.CANCELLED.value, closed_at=clock.now()
    )
    with transaction.atomic():
        telling.closed(review, clock.now())
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)

    assert len(delivered()) == 1


def test_what_expired_and_is_decided_after_all_is_told_twice(ana, advance_clock):
    ben = factory.make_user("ben", "operators")
    review = factory.park(reason=HIGH)
    delivered()
    Review.objects.filter(pk=review.pk).update(
        status=ReviewStatus.EXPIRED.value, closed_at=clock.now()
    )
    with transaction.atomic():
        telling.closed(Review.objects.get(pk=review.pk), clock.now())
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)
    (expired,) = delivered()

    abort(review, ben)
    advance_clock(telling.FOLLOW_UP_WAIT_S + 1)

    assert expired.startswith("Expired, nobody has decided")
    (decided,) = delivered()
    assert decided.startswith("Aborted by ben")
