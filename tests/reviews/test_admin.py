"""Messages that failed can be sent on their way again by an admin."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews.models import Notification
from runs import queue
from tests.support import factory

pytestmark = pytest.mark.django_db

LIST = "admin:reviews_notification_changelist"


@pytest.fixture
def rows():
    """One failed row and one sent."""
    factory.make_user("ana", "operators")
    factory.make_user("ben", "operators")
    factory.park()
    failed, sent = told()
    Notification.objects.filter(pk=failed.pk).update(status="failed", attempts=5)
    Notification.objects.filter(pk=sent.pk).update(status="sent", attempts=1)
    return failed, sent


def told():
    return Notification.objects.filter(event="opened").order_by("address")


def try_again(client, rows):
    chosen = [row.pk for row in rows]
    data = {"action": "try_again", "_selected_action": chosen}
    return client.post(reverse(LIST), data)


def staff(client, group):
    user = factory.make_user("boss", group)
    user.is_staff = True
    user.save()
    client.force_login(user)


def test_only_what_failed_is_tried_again(client, rows):
    staff(client, "admins")
    before = queue.length()

    try_again(client, rows)

    failed, sent = told()
    assert (failed.status, failed.attempts) == ("pending", 0)
    assert (sent.status, sent.attempts) == ("sent", 1)
    assert queue.length() == before + 1


def test_who_may_not_change_the_outbox_cannot(client, rows):
    staff(client, "operators")

    assert try_again(client, rows).status_code == 403
    assert Notification.objects.filter(status="failed").count() == 1
