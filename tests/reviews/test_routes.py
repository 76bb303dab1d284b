"""People choose how they are told; nobody sees an address again."""

from __future__ import annotations

from datetime import time

import pytest
from django.core import mail
from django.urls import reverse

from agentops import clock
from reviews import routes
from reviews.models import Profile, Route
from tests.support import factory

pytestmark = pytest.mark.django_db

PAGE = "/reviews/profile/"
SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


@pytest.fixture
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


def add(client, **fields):
    values = {"channel": "slack", "address": SLACK, "least_risk": "low"}
    return client.post(reverse("reviews:routes"), values | fields)


def change(client, route, act):
    return client.post(reverse("reviews:route", args=[route.pk]), {"act": act})


def page(client):
    return client.get(PAGE).content.decode()


def test_who_has_no_route_reads_that_mail_is_sent(client, ana):
    text = page(client)

    assert "you are told by e-mail" in text
    assert "ana@example.com" in text


def test_a_route_is_kept_and_its_secret_never_shown_again(client, ana):
    answer = add(client)

    assert answer["Location"] == PAGE
    assert ana.routes.get().address == SLACK
    text = page(client)
    assert "https://hooks.slack.com/…" in text
    assert "T1JJ3T3L2" not in text


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (SLACK, "https://hooks.slack.com/…"),
        ("slack://xoxb-123-secret/#ops", "slack://… #ops"),
        ("pagerduty://secret@secret", "pagerduty://…"),
        ("https://ana:secret@example.com/hook?t=secret", "https://example.com/…"),
        ("ana@example.com", "ana@example.com"),
    ],
)
def test_an_address_is_shown_without_its_secret(address, shown):
    assert Route(channel="any", address=address).shown == shown


def test_what_the_channel_does_not_take_is_told_beside_the_field(client, ana):
    answer = add(client, channel="webhook", address="https://169.254.169.254/latest")

    assert answer.status_code == 422
    assert "not a public address" in answer.content.decode()
    assert ana.routes.count() == 0


def test_the_same_route_is_not_kept_twice(client, ana):
    add(client)

    answer = add(client)

    assert answer.status_code == 422
    assert "You have this route already." in answer.content.decode()


def test_there_is_an_end_to_routes(client, ana, monkeypatch):
    monkeypatch.setattr(routes, "MOST", 1)
    add(client)

    assert add(client, channel="email", address="a@example.com").status_code == 422


def test_a_route_is_turned_off_and_on_and_removed(client, ana):
    add(client)
    route = ana.routes.get()

    change(client, route, "off")
    assert not ana.routes.get().enabled
    change(client, route, "on")
    assert ana.routes.get().enabled
    change(client, route, "remove")
    assert ana.routes.count() == 0


def test_nobody_touches_the_routes_of_others(client, ana):
    ben = factory.make_user("ben", "operators")
    route = Route.objects.create(person=ben, channel="email", address="b@example.com")

    for act in ("off", "remove", "test"):
        assert change(client, route, act).status_code == 404

    assert Route.objects.get().enabled
    assert "b@example.com" not in page(client)
    assert mail.outbox == []


def test_a_test_message_is_sent_at_once(client, ana, services):
    route = Route.objects.create(person=ana, channel="slack", address=SLACK)

    change(client, route, "test")

    assert "This route works" not in page(client)
    assert "A test message from agentops" in str(services.body)


def test_a_test_message_that_fails_says_why_without_the_address(client, ana, services):
    services.status = 404
    route = Route.objects.create(person=ana, channel="slack", address=SLACK)

    change(client, route, "test")

    text = page(client)
    assert "not delivered" in text
    assert "status 404" in text
    assert "T1JJ3T3L2" not in text


def test_risks_that_no_route_takes_are_named(client, ana):
    Route.objects.create(
        person=ana, channel="email", address="a@example.com", least_risk="high"
    )

    assert "items of low and medium risk" in page(client)


def test_quiet_hours_are_kept_and_ended(client, ana):
    address = reverse("reviews:quiet")

    client.post(address, {"quiet_from": "22:00", "quiet_until": "07:00"})
    kept = Profile.objects.get()
    assert (kept.quiet_from, kept.quiet_until) == (time(22), time(7))
    assert 'value="22:00"' in page(client)

    client.post(address, {})
    assert Profile.objects.get().quiet_from is None


def test_one_time_alone_is_no_quiet_hours(client, ana):
    answer = client.post(reverse("reviews:quiet"), {"quiet_from": "22:00"})

    assert answer.status_code == 422
    assert "both times" in answer.content.decode()
    assert Profile.objects.count() == 0


def test_a_mute_ends_after_an_hour(client, ana, advance_clock):
    client.post(reverse("reviews:mute"), {"for": "hour"})

    assert "Tell me again" in page(client)
    advance_clock(3601)
    assert "Tell me again" not in page(client)


def test_a_mute_until_tomorrow_ends_in_the_morning_where_the_person_is(client, ana):
    Profile.objects.create(person=ana, time_zone="Asia/Tokyo")

    client.post(reverse("reviews:mute"), {"for": "tomorrow"})

    until = Profile.objects.get().muted_until
    assert until is not None
    assert until.hour == 23  # 8:00 in Tokyo
    assert 0 < (until - clock.now()).total_seconds() < 32 * 3600


def test_a_mute_is_ended(client, ana):
    client.post(reverse("reviews:mute"), {"for": "hour"})
    client.post(reverse("reviews:mute"), {"for": ""})

    assert Profile.objects.get().muted_until is None


@pytest.mark.parametrize("name", ["routes", "quiet", "mute"])
def test_only_a_post_of_somebody_signed_in_changes_anything(client, name):
    address = reverse(f"reviews:{name}")

    assert client.get(address).status_code == 405
    assert client.post(address).status_code == 401
