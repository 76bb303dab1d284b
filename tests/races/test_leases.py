"""Many claim at once: every run goes to exactly one of them."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from runs import leases
from runs.models import Run
from tests.support.rows import make_run

CLAIMERS = 6
RUNS = 40

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(act, names) -> dict[str, Any]:
    """What each name got from `act(name)`, all begun at the same moment."""
    start = threading.Barrier(len(names))
    got = {}

    def run(name):
        try:
            start.wait(10)
            got[name] = act(name)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return got


def claim_all(owner: str) -> list[UUID]:
    mine: list[UUID] = []
    while claimed := leases.claim(owner, 3):
        mine += claimed
    return mine


def test_no_run_is_claimed_twice():
    for _ in range(RUNS):
        make_run()

    got = at_once(claim_all, [f"owner-{n}" for n in range(CLAIMERS)])

    claimed = [run_id for mine in got.values() for run_id in mine]
    assert len(got) == CLAIMERS
    assert len(claimed) == len(set(claimed)) <= RUNS
    assert set(Run.objects.values_list("claims", flat=True)) <= {0, 1}
    for owner, mine in got.items():
        assert set(Run.objects.filter(lease_owner=owner).in_bulk()) == set(mine)


def test_one_suspect_goes_to_one():
    make_run(claims=2)

    got = at_once(leases.claim_alone, [f"owner-{n}" for n in range(CLAIMERS)])

    assert len([run_id for run_id in got.values() if run_id]) == 1


def test_a_beat_and_a_takeover_never_both_win(advance_clock):
    runs = [make_run() for _ in range(10)]
    leases.claim("before", 10)
    advance_clock(16)

    got = at_once(
        lambda name: leases.beat(name) if name == "before" else claim_all(name),
        ["before", "after"],
    )

    kept = set(Run.objects.filter(lease_owner="before").values_list("pk", flat=True))
    assert kept | set(got["after"]) == {run.pk for run in runs}
    assert not kept & set(got["after"])
    assert got["before"] >= kept
