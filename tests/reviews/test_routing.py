"""People are told where they want it, and not while they want to be left alone."""

from __future__ import annotations

from datetime import time, timedelta

import pytest

from agentops import clock
from reviews import outbox
from reviews.models import Notification, Profile, Route
from tests.reviews.told import HIGH, HOUR, delivered
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def test_a_route_takes_only_the_risk_it_is_for(ana):
    factory.make_user("ben", "operators")
    Route.objects.create(
        person=ana, channel="email", address="pager@example.com", least_risk="high"
    )

    factory.park()
    factory.park(reason=HIGH)

    told = Notification.objects.filter(event="opened").order_by("pk")
    assert [row.address for row in told] == [
        "ben@example.com",
        "pager@example.com",
        "ben@example.com",
    ]


def test_a_run_that_no_route_would_tell_of_is_told_by_mail(ana):
    Route.objects.create(
        person=ana, channel="email", address="pager@example.com", least_risk="high"
    )

    factory.park()

    row = Notification.objects.get(event="opened")
    assert row.address == "ana@example.com"


def test_a_route_that_is_off_counts_as_none(ana):
    Route.objects.create(
        person=ana, channel="email", address="pager@example.com", enabled=False
    )

    factory.park()

    assert Notification.objects.get(event="opened").address == "ana@example.com"


def test_one_address_of_two_people_is_told_once(ana):
    ben = factory.make_user("ben", "operators")
    for person in (ana, ben):
        Route.objects.create(person=person, channel="slack", address="slack://a/b/c")

    factory.park()

    row = Notification.objects.get(event="opened")
    assert row.person == ana
    assert "slack://" not in row.address


def test_what_its_owner_took_away_is_not_sent_to(ana, advance_clock):
    route = Route.objects.create(person=ana, channel="slack", address="slack://a/b/c")
    factory.park(reason=HIGH)
    route.delete()

    outbox.deliver()

    row = Notification.objects.get(event="opened")
    assert (row.status, row.error) == ("dropped", outbox.GONE)


def quiet_from_now(person, hours):
    now = clock.now()
    Profile.objects.create(
        person=person,
        quiet_from=time(now.hour, now.minute),
        quiet_until=(now + timedelta(hours=hours)).time().replace(second=0),
    )


def test_quiet_hours_hold_back_until_they_are_over(ana, configured, advance_clock):
    configured(notify_every_medium_s=0)
    quiet_from_now(ana, 2)
    factory.park()

    assert delivered() == []
    advance_clock(HOUR)
    assert delivered() == []
    advance_clock(HOUR)

    assert len(delivered()) == 1
    assert Notification.objects.get(event="opened").attempts == 1


def test_high_risk_wakes_people_at_half_of_its_time(ana, advance_clock):
    quiet_from_now(ana, 8)
    factory.park(reason=HIGH)

    assert delivered() == []
    advance_clock(HOUR / 2 + 1)

    assert len(delivered()) == 1


def test_a_mute_holds_back_even_that(ana, advance_clock):
    until = clock.now() + timedelta(hours=2)
    Profile.objects.create(person=ana, muted_until=until)
    factory.park(reason=HIGH)
    advance_clock(HOUR)

    assert delivered() == []


def test_who_has_left_is_not_told(ana):
    factory.park(reason=HIGH)
    ana.is_active = False
    ana.save()

    assert delivered() == []
