"""The clock: one time for all hosts, moved by tests only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from agentops import clock


def test_it_tells_utc():
    assert clock.now().tzinfo is UTC
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=1)


def test_it_can_be_advanced_and_comes_back(advance_clock):
    before = clock.now()

    with clock.advance(3600):
        assert clock.now() - before >= timedelta(hours=1)

    assert clock.now() - before < timedelta(hours=1)


def test_advances_add_up(advance_clock):
    before = clock.now()

    advance_clock(60)
    advance_clock(60)

    assert timedelta(minutes=2) <= clock.now() - before < timedelta(minutes=3)


@pytest.mark.django_db
@pytest.mark.postgres
def test_it_follows_the_database_on_postgresql(monkeypatch):
    monkeypatch.setattr(clock, "_database_offset_s", 5000.0)
    monkeypatch.setattr(clock, "_synced_at", None)

    clock.sync(connection)

    assert abs(clock.now() - datetime.now(UTC)) < timedelta(seconds=2)


@pytest.mark.django_db
@pytest.mark.postgres
def test_it_asks_the_database_at_most_every_30_seconds(
    monkeypatch, django_assert_num_queries
):
    monkeypatch.setattr(clock, "_synced_at", None)

    with django_assert_num_queries(1):
        clock.sync(connection)
        clock.sync(connection)


@pytest.mark.django_db
def test_sqlite_runs_on_this_hosts_clock(django_assert_num_queries):
    if connection.vendor == "sqlite":
        with django_assert_num_queries(0):
            clock.sync(connection)
