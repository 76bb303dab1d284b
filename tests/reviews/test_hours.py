"""Quiet hours hold for the person's own clock, over midnight and summer time."""

from __future__ import annotations

from datetime import UTC, datetime, time

import pytest

from reviews import hours
from reviews.models import Profile

pytestmark = pytest.mark.once


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def quiet(begin, end, zone="UTC", **fields):
    return Profile(
        quiet_from=time.fromisoformat(begin),
        quiet_until=time.fromisoformat(end),
        time_zone=zone,
        **fields,
    )


def test_who_has_no_profile_is_told_at_once():
    now = at("2026-03-02 23:00")

    assert hours.free_at(None, now) == now
    assert hours.free_at(Profile(), now) == now


@pytest.mark.parametrize(
    ("now", "free"),
    [
        ("2026-03-02 21:59", "2026-03-02 21:59"),
        ("2026-03-02 22:00", "2026-03-03 07:00"),
        ("2026-03-03 01:30", "2026-03-03 07:00"),
        ("2026-03-03 06:59", "2026-03-03 07:00"),
        ("2026-03-03 07:00", "2026-03-03 07:00"),
    ],
)
def test_quiet_hours_go_over_midnight(now, free):
    assert hours.free_at(quiet("22:00", "07:00"), at(now)) == at(free)


def test_quiet_hours_within_a_day():
    profile = quiet("12:00", "13:00")

    assert hours.free_at(profile, at("2026-03-02 12:30")) == at("2026-03-02 13:00")
    assert hours.free_at(profile, at("2026-03-02 23:30")) == at("2026-03-02 23:30")


def test_they_are_of_the_persons_own_zone():
    profile = quiet("22:00", "07:00", "Asia/Tokyo")  # nine hours ahead

    assert hours.free_at(profile, at("2026-03-02 14:00")) == at("2026-03-02 22:00")
    assert hours.free_at(profile, at("2026-03-02 23:00")) == at("2026-03-02 23:00")


@pytest.mark.parametrize(
    ("now", "free"),
    [
        # the night of 29 March 2026 is an hour shorter: 2:00 is 3:00
        ("2026-03-28 22:00", "2026-03-29 05:00"),
        # that of 25 October an hour longer
        ("2026-10-24 21:00", "2026-10-25 06:00"),
    ],
)
def test_the_night_in_which_the_clocks_change(now, free):
    profile = quiet("22:00", "07:00", "Europe/Berlin")

    assert hours.free_at(profile, at(now)) == at(free)


@pytest.mark.parametrize(
    ("now", "free"),
    [
        # 2:30 does not exist that night: it is 3:30 by the clocks
        ("2026-03-29 00:45", "2026-03-29 01:30"),
        # 2:30 comes twice that night; who is told between the two waits for the next
        ("2026-10-25 00:10", "2026-10-25 00:30"),
        ("2026-10-25 01:10", "2026-10-25 01:30"),
    ],
)
def test_an_end_that_the_clocks_skip_or_repeat(now, free):
    profile = quiet("01:30", "02:30", "Europe/Berlin")

    assert hours.free_at(profile, at(now)) == at(free)


def test_a_mute_holds_all_back_and_quiet_hours_after_it_as_well():
    profile = quiet("22:00", "07:00", muted_until=at("2026-03-02 20:00"))

    assert hours.free_at(profile, at("2026-03-02 18:00")) == at("2026-03-02 20:00")
    profile.muted_until = at("2026-03-02 23:00")
    assert hours.free_at(profile, at("2026-03-02 18:00")) == at("2026-03-03 07:00")


def test_what_wakes_people_ends_their_quiet_hours_but_no_mute():
    profile, now = quiet("22:00", "07:00"), at("2026-03-02 23:00")

    assert hours.free_at(profile, now, at("2026-03-02 23:30")) == at("2026-03-02 23:30")
    assert hours.free_at(profile, now, at("2026-03-02 22:30")) == now
    profile.muted_until = at("2026-03-03 01:00")
    assert hours.free_at(profile, now, now) == at("2026-03-03 01:00")


def test_an_unknown_zone_counts_as_none():
    profile = quiet("22:00", "07:00", "Moon/Crater")

    assert hours.free_at(profile, at("2026-03-02 23:00")) == at("2026-03-03 07:00")
