"""The heartbeat: leases are kept, unless the loop stands still."""

from __future__ import annotations

import pytest
from django.db import OperationalError

from runs import heart, leases
from runs.heart import Heart
from runs.models import Driver
from tests.support.rows import make_run
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beating(settings, tmp_path, configured):
    settings.VAR_DIR = tmp_path
    configured(lease_s=2.0, heartbeat_s=0.05)
    hearts = []

    def start(held=0):
        hearts.append(Heart(leases.begin(1), lambda: held))
        hearts[0].start()
        return Driver.objects.get()

    yield start
    hearts[0].stop()
    hearts[0].join(10)


def test_it_extends_leases_and_shows_what_is_held(beating):
    driver = beating(held=7)
    run = make_run()
    leases.claim(driver.owner, 1)
    run.refresh_from_db()
    until = run.lease_until
    assert until

    def extended():
        run.refresh_from_db()
        driver.refresh_from_db()
        assert run.lease_until
        return run.lease_until > until and driver.held == 7

    wait_until(extended)


def test_it_outlives_a_database_that_is_away(beating, monkeypatch):
    monkeypatch.setattr(heart, "PAUSE_AFTER_FAILURE_S", 0.01)
    beat, failures = leases.beat, [OperationalError("gone"), ValueError("a bug")]

    def failing(owner):
        if failures:
            raise failures.pop()
        return beat(owner)

    monkeypatch.setattr(leases, "beat", failing)
    driver = beating(held=3)

    def shown():
        driver.refresh_from_db()
        return driver.held == 3

    wait_until(shown)
    assert failures == []


def test_a_loop_that_stands_still_ends_its_process(beating, monkeypatch):
    ended = []
    monkeypatch.setattr(heart, "STALLED_S", 0.1)
    monkeypatch.setattr(heart, "_end_process", lambda: ended.append(1))

    beating()

    wait_until(lambda: ended)
