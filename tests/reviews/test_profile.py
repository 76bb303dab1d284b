"""The profile: everybody's own, and every page in the zone it names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from reviews import profile
from reviews.models import Profile, Review
from runs.models import Attempt
from tests.support import factory

pytestmark = pytest.mark.django_db

ADDRESS = "/reviews/profile/"


@pytest.fixture
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


def settings_of(person, **fields):
    return Profile.objects.create(person=person, **fields)


def test_a_submitter_has_a_profile_too(client):
    client.force_login(factory.make_user("sub", "submitters"))

    assert client.get(reverse("reviews:profile")).status_code == 200


def test_who_is_not_signed_in_is_asked_to(client):
    assert "login" in client.get(ADDRESS)["Location"]


def test_settings_are_kept_and_the_rest_of_the_row_stays(client, ana):
    settings_of(ana, quiet_from="22:00", quiet_until="07:00")

    answer = client.post(ADDRESS, {"time_zone": "Asia/Kathmandu"})

    kept = Profile.objects.get(person=ana)
    assert answer["Location"] == ADDRESS
    assert (kept.time_zone, kept.single_keys) == ("Asia/Kathmandu", False)
    assert kept.quiet_from is not None


def test_no_zone_means_the_installations(client, ana):
    client.post(ADDRESS, {"time_zone": "", "single_keys": "on"})

    kept = Profile.objects.get(person=ana)
    assert (kept.time_zone, kept.single_keys) == ("", True)


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "\x00"])
def test_what_is_no_zone_is_refused(client, ana, name):
    answer = client.post(ADDRESS, {"time_zone": name})

    assert answer.status_code == 422
    assert not Profile.objects.exists()


def test_a_person_changes_nobody_elses_settings(client, ana):
    ben = factory.make_user("ben", "operators")

    client.post(ADDRESS, {"time_zone": "Asia/Tokyo", "person": ben.pk})

    assert not Profile.objects.filter(person=ben).exists()


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("", "10 Mar 2031, 23:30:00 UTC"),
        ("Asia/Tokyo", "11 Mar 2031, 08:30:00 JST"),
        ("No/Longer_Known", "10 Mar 2031, 23:30:00 UTC"),
    ],
)
def test_times_are_shown_in_the_persons_zone(client, ana, zone, shown):
    settings_of(ana, time_zone=zone)
    review = factory.park()
    due_at = datetime(2031, 3, 10, 23, 30, tzinfo=UTC)
    Review.objects.filter(pk=review.pk).update(due_at=due_at)

    page = client.get(reverse("reviews:detail", args=[review.pk])).content.decode()

    assert shown in page


def test_a_kept_step_is_not_shown_in_the_zone_of_whoever_looked_first(client, ana):
    review = factory.park()
    at = datetime(2031, 3, 10, 23, 30, tzinfo=UTC)
    times = {"started_at": at, "finished_at": at, "retry_at": at}
    Attempt.objects.create(run=review.run, step_number=1, number=1, **times)
    address = reverse("runs:detail", args=[review.run_id])
    first = client.get(address).content.decode()
    settings_of(ana, time_zone="Asia/Tokyo")

    second = client.get(address).content.decode()

    assert "10 Mar 2031, 23:30:00 UTC" in first
    assert "11 Mar 2031, 08:30:00 JST" in second
    assert "10 Mar 2031" not in second


def test_the_switch_is_in_the_markup_so_that_no_key_works_too_early(client, ana):
    assert 'data-keys="off"' not in client.get(ADDRESS).content.decode()

    settings_of(ana, single_keys=False)

    assert 'data-keys="off"' in client.get(ADDRESS).content.decode()


def test_settings_cost_one_query_and_nothing_for_who_is_not_signed_in(ana):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        profile.zone(profile.of(ana))
    assert len(queries) == 1

    with CaptureQueriesContext(connection) as queries:
        profile.zone(profile.of(AnonymousUser()))
    assert len(queries) == 0


def test_a_page_before_signing_in_asks_the_database_nothing(
    client, django_assert_num_queries
):
    with django_assert_num_queries(0):
        client.get(reverse("login"))
