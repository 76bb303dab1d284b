"""Who holds a run, and for how long: the only module that claims.

A driver claims due runs, keeps its leases by a heartbeat and gives them back. The
fence is the owner's name, not the time: an engine's commit asks for
`lease_owner = owner`, so a lease that ran out while nobody else claimed the run is
still good, and one that was taken over is not.

Claims without progress are counted at the claim; every commit of progress sets them
to 0. After `SUSPECT_AFTER` of them a run is a suspect and is claimed alone only, so
that it takes nobody with it; after `POISON_AFTER` deaths while alone it is poison.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Case, F, Q, When

from agentops import clock
from agentops.conf import product
from runs import points, slots
from runs.models import Driver, Run
from runs.models.run import RunQuerySet

SUSPECT_AFTER = 2
POISON_AFTER = 3
KEEP_DRIVERS = timedelta(days=1)

# One statement; the materialised list is made once, so never more than the limit.
CLAIM = """
WITH due AS MATERIALIZED (
    SELECT id FROM runs_run
    WHERE wake_at <= %(now)s
      AND (lease_until IS NULL OR (%(takes_over)s AND lease_until < %(now)s))
      AND claims < %(suspect)s AND lease_owner <> %(owner)s
    ORDER BY wake_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE runs_run SET lease_owner = %(owner)s, lease_until = %(until)s,
    claims = claims + 1
FROM due WHERE runs_run.id = due.id
RETURNING runs_run.id
"""


@points.write("claim")
def claim(owner: str, limit: int, *, takes_over: bool = True) -> list[UUID]:
    """Lease up to `limit` due runs to `owner`, the longest due ones; those whose lease
    has run out only if it `takes_over`.

    Two callers never get the same run, and nobody gets one that is still his: its
    lease may have run out while the database was away, and it may be in flight. One
    statement on PostgreSQL, one IMMEDIATE transaction on SQLite; neither waits for a
    row that another caller is taking.
    """
    if limit < 1:
        return []
    if connection.vendor == "postgresql":
        return _claim_in_one_statement(owner, limit, takes_over)
    due = _due(takes_over).filter(claims__lt=SUSPECT_AFTER).exclude(lease_owner=owner)
    return _claim(due, owner, limit)


@points.write("claim alone")
def claim_alone(owner: str) -> UUID | None:
    """Lease one due suspect to `owner`, who must run nothing beside it."""
    suspects = _due().filter(claims__gte=SUSPECT_AFTER, claims_alone__lt=POISON_AFTER)
    ids = _claim(suspects, owner, 1, alone=1)
    return ids[0] if ids else None


def has_suspects() -> bool:
    """Is there a run for `claim_alone`?"""
    suspects = Q(claims__gte=SUSPECT_AFTER, claims_alone__lt=POISON_AFTER)
    return _due().filter(suspects).exists()


@points.write("claim poisoned")
def claim_poisoned(owner: str) -> UUID | None:
    """Lease one run that ended its worker too often to be tried again."""
    ids = _claim(_due().filter(claims_alone__gte=POISON_AFTER), owner, 1)
    return ids[0] if ids else None


@points.write("beat")
def beat(owner: str) -> set[UUID]:
    """Extend all leases of `owner`; returns the runs it still holds."""
    held = _held(owner)
    held.update(lease_until=_until(clock.now()))
    return held_by(owner)


@points.write("release")
def release(run_ids: Collection[UUID], owner: str) -> None:
    """Give back runs that are as well as they were: due now, the claim not counted.

    A suspect stays one; only its last claim alone is taken back.
    """
    was_alone = When(claims_alone__gt=0, then=F("claims"))
    _held(owner).filter(pk__in=run_ids).update(
        wake_at=clock.now(),
        lease_owner="",
        lease_until=None,
        claims=Case(was_alone, default=0),
        claims_alone=Case(
            When(claims_alone__gt=0, then=F("claims_alone") - 1), default=0
        ),
    )


@points.write("forfeit")
def forfeit(run_ids: Iterable[UUID], owner: str) -> None:
    """Give back runs that could not be advanced; their claims stay counted."""
    _held(owner).filter(pk__in=list(run_ids)).update(lease_owner="", lease_until=None)


def held_by(owner: str) -> set[UUID]:
    """All runs leased to `owner`, also those of a claim whose answer was lost."""
    return set(_held(owner).values_list("pk", flat=True))


def is_near(within_s: float) -> bool:
    """Is a run due within so many seconds, or held by anybody?"""
    return Run.objects.filter(wake_at__lte=clock.later(within_s)).exists()


# Drivers


@points.write("begin driver")
def begin(slot: int) -> str:
    """Register this process as holder of a slot whose lock it has; its owner's name.

    Ends whoever held the slot before: the lock proves that it is dead.
    """
    host, now = slots.host(), clock.now()
    _end_former(host, slot)
    owner = f"{host}:{os.getpid()}:{uuid4().hex[:8]}"
    Driver.objects.create(
        owner=owner, host=host, slot=slot, pid=os.getpid(), started_at=now, beat_at=now
    )
    return owner


@points.write("stamp driver")
def stamp(owner: str, held: int = 0) -> None:
    """The driver's sign of life, with the number of runs it holds."""
    Driver.objects.filter(owner=owner).update(beat_at=clock.now(), held=held)


@points.write("end driver")
def end(owner: str) -> None:
    """`owner` is known to be dead: whoever comes next may have its runs at once."""
    with transaction.atomic():
        _held(owner).update(lease_owner="", lease_until=None)
        Driver.objects.filter(owner=owner, ended_at=None).update(ended_at=clock.now())
        points.reach("inside end driver")


def is_dead(owner: str) -> bool:
    """Is it proved that `owner` does nothing any more?

    Yes if its driver has ended, if it has been silent for so long that its row was
    pruned, or if it ran on this host and the lock of its slot is free. A driver on
    another host that merely fell silent is not proved dead, nor is one whose locks
    this process may not read.
    """
    return proves_death(Driver.objects.filter(owner=owner).first())


def proves_death(driver: Driver | None) -> bool:
    """The same of a driver's row, None if there is none any more."""
    if driver is None or driver.ended_at is not None:
        return True
    try:
        return driver.host == slots.host() and slots.is_free(driver.slot)
    except OSError:
        return False


@points.write("prune drivers")
def prune() -> None:
    """Drop the rows of drivers that ended, or fell silent, a day ago.

    A row that is gone proves a death: so one stays whose process is seen to live.
    """
    silent = Driver.objects.filter(beat_at__lt=clock.now() - KEEP_DRIVERS)
    here = silent.filter(host=slots.host(), ended_at=None)
    alive = [driver.owner for driver in here if not proves_death(driver)]
    silent.exclude(owner__in=alive).delete()


def _end_former(host: str, slot: int) -> None:
    former = Driver.objects.filter(host=host, slot=slot, ended_at=None)
    for owner in list(former.values_list("owner", flat=True)):
        end(owner)


def _due(takes_over: bool = True) -> RunQuerySet:
    now = clock.now()
    free = Q(lease_until=None)
    if takes_over:
        free |= Q(lease_until__lt=now)
    return Run.objects.filter(free, wake_at__lte=now).order_by("wake_at")


def _held(owner: str) -> RunQuerySet:
    """By way of the index on `wake_at`, which every leased run has."""
    return Run.objects.filter(lease_owner=owner, wake_at__isnull=False).order_by()


def _until(now: datetime) -> datetime:
    return now + timedelta(seconds=product().lease_s)


def _claim_in_one_statement(owner: str, limit: int, takes_over: bool) -> list[UUID]:
    now = clock.now()
    values: dict[str, str | int | datetime] = {
        "takes_over": takes_over,
        "now": now,
        "until": _until(now),
        "owner": owner,
        "limit": limit,
        "suspect": SUSPECT_AFTER,
    }
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, values)
        return [run_id for (run_id,) in cursor.fetchall()]


def _claim(due: RunQuerySet, owner: str, limit: int, *, alone: int = 0) -> list[UUID]:
    if not due.exists():
        # SQLite: do not take the lock of all writers ten times a second for nothing.
        return []
    with transaction.atomic():
        rows = due.select_for_update(skip_locked=True).values_list("pk", flat=True)
        ids = list(rows[:limit])
        Run.objects.filter(pk__in=ids).update(
            lease_owner=owner,
            lease_until=_until(clock.now()),
            claims=F("claims") + 1,
            claims_alone=F("claims_alone") + alone,
        )
        points.reach("inside claim")
    return ids
