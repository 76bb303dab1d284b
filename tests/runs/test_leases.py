"""Leases: who gets a run, who keeps it, and who is known to be dead."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentops import clock
from runs import leases, slots
from runs.models import Driver, Run
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path


def make_driver(owner: str, **fields) -> Driver:
    now = clock.now()
    values = {
        "owner": owner,
        "host": slots.host(),
        "slot": 1,
        "pid": 1,
        "started_at": now,
        "beat_at": now,
    }
    return Driver.objects.create(**values | fields)


def in_seconds(seconds: float):
    return clock.now() + timedelta(seconds=seconds)


# Claiming


def test_it_claims_what_is_due():
    run = make_run()

    assert leases.claim("me", 10) == [run.pk]

    run.refresh_from_db()
    assert run.lease_owner == "me"
    assert in_seconds(10) < run.lease_until <= in_seconds(15)
    assert run.claims == 1


@pytest.mark.parametrize("wake_in", [60, None], ids=["later", "parked or final"])
def test_it_leaves_what_is_not_due(wake_in):
    make_run(wake_at=wake_in and in_seconds(wake_in))

    assert leases.claim("me", 10) == []


def test_it_leaves_what_another_holds_until_the_lease_ends(advance_clock):
    run = make_run()
    leases.claim("other", 10)

    assert leases.claim("me", 10) == []
    advance_clock(15.1)
    assert leases.claim("me", 10) == [run.pk]


def test_who_does_not_take_over_leaves_leases_that_ran_out(advance_clock):
    held, free = make_run(), make_run(wake_at=in_seconds(1000))
    leases.claim("before", 1)
    advance_clock(1001)

    assert leases.claim("after", 10, takes_over=False) == [free.pk]
    assert leases.claim("after", 10) == [held.pk]


def test_it_does_not_claim_again_what_it_still_holds(advance_clock):
    make_run()
    leases.claim("me", 10)
    advance_clock(60)

    assert leases.claim("me", 10) == []


def test_it_takes_the_longest_due_first_and_no_more_than_asked():
    runs = [make_run(wake_at=in_seconds(-age)) for age in (1, 3, 2)]

    claimed = leases.claim("me", 2)

    assert set(claimed) == {runs[1].pk, runs[2].pk}
    assert leases.claim("me", 0) == []


# Suspects


def test_a_run_that_twice_made_no_progress_is_claimed_alone_only():
    run = make_run(claims=2)

    assert leases.claim("me", 10) == []
    assert leases.has_suspects()
    assert leases.claim_alone("me") == run.pk

    run.refresh_from_db()
    assert (run.claims, run.claims_alone) == (3, 1)
    assert not leases.has_suspects()


def test_one_suspect_at_a_time_is_claimed():
    make_run(claims=2)
    make_run(claims=2)

    assert leases.claim_alone("me")
    assert leases.has_suspects()


def test_nobody_is_suspected_at_first():
    make_run(claims=1)

    assert leases.claim_alone("me") is None


def test_after_three_deaths_alone_it_is_poison_and_not_claimed():
    run = make_run(claims=5, claims_alone=3)

    assert leases.claim_alone("me") is None
    assert not leases.has_suspects()
    assert leases.claim_poisoned("me") == run.pk
    assert leases.claim_poisoned("other") is None


def test_poison_counts_once_its_last_driver_is_dead():
    make_run(claims=5, claims_alone=3, lease_owner="x", lease_until=in_seconds(5))

    assert leases.claim_poisoned("me") is None


# Keeping and giving back


def test_a_beat_extends_all_leases_and_tells_what_is_held(advance_clock):
    runs = [make_run(), make_run()]
    make_run(lease_owner="other", lease_until=in_seconds(15))
    leases.claim("me", 10)
    advance_clock(10)

    assert leases.beat("me") == {run.pk for run in runs}
    runs[0].refresh_from_db()
    assert runs[0].lease_until > in_seconds(14)


def test_a_lease_that_ran_out_unclaimed_is_kept(advance_clock):
    run = make_run()
    leases.claim("me", 1)
    advance_clock(60)

    assert leases.beat("me") == {run.pk}


def test_a_lease_that_was_taken_over_is_lost(advance_clock):
    make_run()
    leases.claim("me", 1)
    advance_clock(60)
    leases.claim("other", 1)

    assert leases.beat("me") == set()


def test_a_released_run_is_due_at_once_and_not_suspected():
    run = make_run()
    leases.claim("me", 1)

    leases.release([run.pk], "me")

    run.refresh_from_db()
    assert (run.lease_owner, run.lease_until, run.claims) == ("", None, 0)
    assert leases.claim("other", 1) == [run.pk]


def test_a_released_suspect_stays_one():
    run = make_run(claims=2)
    leases.claim_alone("me")

    leases.release([run.pk], "me")

    run.refresh_from_db()
    assert run.claims >= leases.SUSPECT_AFTER
    assert run.claims_alone == 0


def test_a_forfeited_run_keeps_its_claims():
    run = make_run()
    leases.claim("me", 1)

    leases.forfeit([run.pk], "me")

    run.refresh_from_db()
    assert (run.lease_owner, run.claims) == ("", 1)


@pytest.mark.parametrize("give_back", [leases.release, leases.forfeit])
def test_nobody_gives_back_what_another_holds(give_back):
    run = make_run()
    leases.claim("other", 1)

    give_back([run.pk], "me")

    assert Run.objects.get().lease_owner == "other"


# The dead


def test_the_runs_of_the_dead_are_due_at_once():
    run = make_run()
    make_driver("dead")
    leases.claim("dead", 1)

    leases.end("dead")

    assert leases.claim("me", 1) == [run.pk]
    assert Driver.objects.get().ended_at


def test_who_begins_in_a_slot_ends_who_held_it_before_and_nobody_else():
    make_driver("before")
    make_driver("beside", slot=2)
    make_driver("elsewhere", host="other/1")

    owner = leases.begin(1)

    living = Driver.objects.filter(ended_at=None).values_list("owner", flat=True)
    assert set(living) == {"beside", "elsewhere", owner}


def test_a_stamp_tells_the_time_and_what_is_held(advance_clock):
    owner = leases.begin(1)
    advance_clock(100)

    leases.stamp(owner, held=7)

    driver = Driver.objects.get()
    assert driver.held == 7
    assert driver.beat_at - driver.started_at >= timedelta(seconds=100)


def test_drivers_of_yesterday_are_pruned():
    make_driver("old", beat_at=in_seconds(-25 * 3600))
    make_driver("new")

    leases.prune()

    assert Driver.objects.get().owner == "new"


def test_a_driver_that_stands_still_here_is_not_pruned():
    """Its row is what says that it is not dead."""
    make_driver("still", beat_at=in_seconds(-25 * 3600))
    slot = slots.take(1)

    leases.prune()

    assert slot
    slot.free()
    assert Driver.objects.filter(owner="still").exists()


def test_near_is_what_is_due_soon_or_held():
    assert not leases.is_near(70)
    run = make_run(wake_at=in_seconds(100))
    assert not leases.is_near(70)
    assert leases.is_near(101)

    Run.objects.filter(pk=run.pk).update(wake_at=clock.now())
    leases.claim("other", 1)
    assert leases.is_near(0)


def test_who_has_ended_or_was_pruned_is_dead():
    make_driver("ended", ended_at=clock.now())

    assert leases.is_dead("ended")
    assert leases.is_dead("pruned")


def test_who_left_the_lock_of_a_slot_here_is_dead():
    make_driver("here")
    slot = slots.take(1)

    assert slot
    assert not leases.is_dead("here")
    slot.free()
    assert leases.is_dead("here")


def test_locks_that_cannot_be_read_prove_nothing(settings, tmp_path):
    make_driver("here")
    (tmp_path / "file").touch()
    settings.VAR_DIR = tmp_path / "file"

    assert not leases.is_dead("here")


def test_silence_on_another_host_proves_nothing():
    make_driver("there", host="other/1", beat_at=in_seconds(-3600))

    assert not leases.is_dead("there")
