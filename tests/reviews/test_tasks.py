"""The queue delivers the outbox; a sweep opens what nobody has opened."""

from __future__ import annotations

import pytest

from reviews import tasks
from reviews.models import Notification, Review
from runs import timers
from tests.support import factory

pytestmark = pytest.mark.django_db


def test_a_delivery_is_due_as_long_as_a_row_is(configured):
    configured(notify_every_medium_s=0)
    factory.make_user("ana", "operators")
    factory.park()
    assert tasks.is_delivery_due()

    assert tasks.deliver()["sent"] == 1

    assert not tasks.is_delivery_due()
    assert Notification.objects.filter(status="sent").count() == 1


def test_the_sweep_opens_what_nobody_opened(advance_clock):
    review = factory.park()
    run = review.run
    review.delete()

    assert tasks.sweep() == {"opened": 0}  # the signal may be about to open it
    advance_clock(tasks.SWEEP_AFTER_S + 1)
    assert tasks.is_sweep_due()
    assert tasks.sweep() == {"opened": 1}

    assert Review.objects.get().run == run
    assert tasks.sweep() == {"opened": 0}
    assert not tasks.is_sweep_due()


def test_the_sweep_asks_the_database_now_and_then_only():
    is_due = timers.seldom(tasks.is_sweep_due, tasks.SWEEP_EVERY_S)
    is_due()
    factory.park().delete()

    assert not is_due()
