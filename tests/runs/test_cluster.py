"""The cluster's safeguards: when it starts anew, and when it only wakes a driver."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection

from agentops import clock
from runs import cluster, leases, slots
from runs.cluster import Sentinel, Watchdog
from tests.support.driving import sent
from tests.support.rows import make_run


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path


# Dead children


@dataclass(eq=False)
class Child:
    """As the sentinel sees a process: `timer` is -1 while a worker idles."""

    exitcode: int | None
    timer: Any = None


def may_have_held_a_lock(child: Child, *, is_worker: bool = True) -> bool:
    sentinel = Sentinel.__new__(Sentinel)
    sentinel.pool = [child] if is_worker else []
    return sentinel._may_have_held_a_lock(child)


@pytest.mark.parametrize(
    ("child", "is_worker", "expected"),
    [
        pytest.param(Child(-9, SimpleNamespace(value=-1)), True, True, id="idle"),
        pytest.param(Child(-9, SimpleNamespace(value=900)), True, False, id="busy"),
        pytest.param(Child(0, SimpleNamespace(value=-2)), True, False, id="recycled"),
        pytest.param(Child(None, SimpleNamespace(value=0)), True, False, id="overtime"),
        pytest.param(Child(-9), False, True, id="monitor or pusher"),
        pytest.param(Child(0), False, False, id="pusher that gave up"),
    ],
)
def test_what_may_have_died_with_a_lock(child, is_worker, expected):
    assert may_have_held_a_lock(child, is_worker=is_worker) is expected


# The watchdog


@pytest.fixture
def due_long_since(db):
    return make_run(wake_at=clock.later(-15))


@pytest.mark.django_db
def test_nothing_due_is_no_trouble():
    assert not Watchdog().is_stuck()
    assert sent() == []


def test_a_late_run_wakes_a_driver_once(due_long_since):
    watchdog = Watchdog()

    assert not watchdog.is_stuck()
    assert not watchdog.is_stuck()

    assert sent() == ["runs.tasks.drive"]


def test_if_that_does_not_help_all_starts_anew(due_long_since, monkeypatch):
    watchdog = Watchdog()
    watchdog.is_stuck()

    monkeypatch.setattr(cluster, "STUCK_S", 0)

    assert watchdog.is_stuck()


def test_a_driver_of_this_host_that_beats_is_trusted(due_long_since, monkeypatch):
    monkeypatch.setattr(cluster, "STUCK_S", 0)
    leases.begin(1)

    assert not Watchdog().is_stuck()


def test_the_main_process_is_no_driver(due_long_since, monkeypatch):
    monkeypatch.setattr(cluster, "STUCK_S", 0)
    leases.begin(slots.MAIN)

    assert Watchdog().is_stuck()


# New workers


@pytest.mark.django_db
def test_a_new_worker_looks_for_work():
    cluster.wake_on_spawn()

    assert sent() == ["runs.tasks.drive"]


@pytest.mark.django_db
def test_a_new_worker_outlives_a_database_that_is_down(caplog):
    def refuse(execute, sql, params, many, context):
        raise OperationalError("the server is down")

    with connection.execute_wrapper(refuse):
        cluster.wake_on_spawn()

    assert "the server is down" in caplog.text
