"""Messages that failed can be sent on their way again by an admin."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews.models import Notification, Route
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


def test_n01_admins_are_told_of_notices_that_failed(client, rows):
    staff(client, "admins")

    page = client.get(reverse("admin:index")).content.decode()

    assert "1 notice" in page
    assert "could not be delivered" in page


def test_without_failures_nothing_is_said(client):
    staff(client, "admins")

    assert "could not be delivered" not in client.get("/admin/").content.decode()


def test_addresses_of_routes_are_nowhere_in_the_admin(client):
    ana = factory.make_user("ana", "operators")
    secret = "https://hooks.slack.com/services/T1/A1/sesame"
    route = Route.objects.create(person=ana, channel="slack", address=secret)
    factory.park()
    row = Notification.objects.get(event="opened")
    staff(client, "admins")

    pages = [
        reverse("admin:reviews_route_changelist"),
        reverse("admin:reviews_route_change", args=[route.pk]),
        reverse(LIST),
        reverse("admin:reviews_notification_change", args=[row.pk]),
    ]
    for page in pages:
        text = client.get(page).content.decode()
        assert "ana" in text
        assert "sesame" not in text
