"""Health: a worker that idles is told from none, and probes get an answer."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from agentops import clock
from runs import health, leases, slots
from runs.models import Lineage
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path


def refuse(execute, sql, params, many, context):
    raise OperationalError("the server is down")


# Signs of life


def test_there_is_no_worker_at_first():
    assert not health.worker_beats()
    assert not health.driver_beats()


def test_an_idle_worker_beats_without_a_driver():
    leases.begin(slots.MAIN)

    assert health.worker_beats()
    assert not health.driver_beats()


def test_a_driver_is_a_worker_too():
    leases.begin(1)

    assert health.worker_beats()
    assert health.driver_beats()


def test_silence_is_no_sign_of_life(advance_clock):
    leases.begin(slots.MAIN)
    advance_clock(11)
    assert health.worker_beats()

    advance_clock(2)

    assert not health.worker_beats()


def test_who_has_ended_does_not_beat():
    leases.end(leases.begin(slots.MAIN))

    assert not health.worker_beats()


def test_the_lag_is_how_long_a_due_run_waits(advance_clock):
    assert health.queue_lag_s() == 0
    make_run(wake_at=clock.later(5))
    assert health.queue_lag_s() == 0

    advance_clock(12)

    assert health.queue_lag_s() == pytest.approx(7, abs=1)
    leases.claim("me", 1)
    assert health.queue_lag_s() == 0


# Probes


def test_healthz_answers_anybody(client):
    answer = client.get("/healthz")

    assert answer.status_code == 200
    assert answer.json() == {"database": "answers"}
    assert "no-store" in answer.headers["Cache-Control"]


def test_probes_may_come_by_address_and_without_tls(client, settings):
    settings.ALLOWED_HOSTS = ["agentops.example.com"]
    settings.SECURE_SSL_REDIRECT = True

    answer = client.get("/healthz", headers={"host": "10.1.2.3:8000"})

    assert answer.status_code == 200


@pytest.mark.parametrize("beats", [True, False])
@pytest.mark.parametrize("went_back", [True, False])
def test_a_page_asks_once_for_both_signs(beats, went_back, django_assert_num_queries):
    if beats:
        leases.begin(slots.MAIN)
        leases.begin(1)
    Lineage.objects.create(overtaken_at=clock.now() if went_back else None)

    with django_assert_num_queries(1):
        found = health.signs()

    assert found == health.Signs(beats, went_back)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_tell_that_the_database_is_down(client, path):
    with connection.execute_wrapper(refuse):
        answer = client.get(path)

    assert answer.status_code == 503
    assert answer.json()["database"] == "does not answer"


def test_it_is_not_ready_without_a_worker(client):
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "history": "whole",
        "migrations": "applied",
        "worker": "none",
        "queue_lag_s": 0.0,
        "runs_held": 0,
    }


def test_it_is_ready_with_a_worker(client):
    leases.stamp(leases.begin(1), held=3)

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["runs_held"] == 3


def test_it_is_not_ready_when_workers_do_not_keep_up(client):
    leases.begin(slots.MAIN)
    make_run(wake_at=clock.later(-90))

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["queue_lag_s"] >= 90


def test_it_is_not_ready_before_migrations(client):
    leases.begin(slots.MAIN)
    recorded = MigrationRecorder.Migration.objects.filter(app="runs")
    newest = recorded.latest("name").name
    recorded.filter(name=newest).delete()

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert f"runs.{newest}" in answer.json()["missing"]


def test_probes_are_not_sent_to_https(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    assert client.get("/healthz").status_code == 200


def test_nothing_but_looking_is_answered(client):
    assert client.post("/healthz").status_code == 405


def test_a_probe_that_is_told_no_is_no_error_in_the_log(client, caplog):
    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert [record.getMessage() for record in caplog.records] == []
