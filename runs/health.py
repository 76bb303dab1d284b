"""Is there a worker, and does it keep up? For the banner and for probes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Min, Q, QuerySet, Sum, Value

from agentops import clock
from agentops.conf import product
from runs import lineage, slots
from runs.models import Driver, Run

BEATS_MISSED = 3


@dataclass(frozen=True)
class Signs:
    """Does a worker run anywhere, and did this database go back (`runs.lineage`)?"""

    beats: bool
    went_back: bool


def signs() -> Signs:
    """What every page tells of; one query."""
    beating = _beating().order_by().values_list(Value("beats"))
    back = lineage.overtaken().order_by().values_list(Value("went back"))
    found = {sign for (sign,) in beating.union(back)}
    return Signs("beats" in found, "went back" in found)


def worker_beats() -> bool:
    """Does a worker run anywhere, idle or not?"""
    return _beating().exists()


def driver_beats(*, here: bool = False) -> bool:
    """Does a driver hold a slot anywhere, or `here`, on this host?"""
    drivers = _beating().exclude(slot=slots.MAIN)
    return (drivers.filter(host=slots.host()) if here else drivers).exists()


def queue_lag_s() -> float:
    """How long the run has waited that is due longest; 0 if none waits."""
    now = clock.now()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    due = Run.objects.filter(free, wake_at__lte=now)
    oldest = due.aggregate(oldest=Min("wake_at"))["oldest"]
    return (now - oldest).total_seconds() if oldest else 0.0


def runs_held() -> int:
    return _beating().aggregate(held=Sum("held"))["held"] or 0


def unapplied_migrations() -> list[str]:
    """Names of migrations this database still lacks."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def _beating() -> QuerySet[Driver]:
    since = clock.now() - timedelta(seconds=BEATS_MISSED * product().heartbeat_s)
    return Driver.objects.filter(ended_at=None, beat_at__gte=since)
