"""What is known of a call that never told its result: when, by whom, alive or not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from agentops import clock
from reviews import doubt
from runs import leases, slots
from runs.models import Driver
from runs.states import EffectStatus, ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db


def started(owner: str) -> dict[str, str]:
    run = factory.make_run()
    call = factory.make_call(run)
    factory.start_effect(run, call, owner)
    review = factory.park(run, ParkReason.OUTCOME_UNKNOWN, call=call)
    return {name: words for name, words, _ in doubt.known(review)}


def test_a_worker_that_beats_may_still_do_it():
    slot = slots.take(97)
    assert slot is not None

    known = started(leases.begin(97))
    slot.free()

    assert known["By"].startswith("worker 97 on ")
    assert known["That worker"] == "Still alive: the call may yet take effect."
    assert "nobody has recorded" in known["Known"]


def test_a_worker_that_ended_is_known_to_do_nothing_more():
    owner = leases.begin(97)
    leases.end(owner)

    assert started(owner)["That worker"].startswith("Known to have ended")


def test_silence_on_another_host_proves_nothing():
    owner = leases.begin(97)
    silent = clock.now() - timedelta(hours=1)
    Driver.objects.filter(owner=owner).update(host="elsewhere/1", beat_at=silent)

    assert started(owner)["That worker"].startswith("Silent, but not known")


def test_a_worker_whose_row_is_gone_is_named_by_its_owner():
    known = started("worker-of-last-week")

    assert known["By"] == "worker worker-of-last-week"
    assert known["That worker"].startswith("Known to have ended")


@pytest.mark.parametrize(
    ("status", "words"),
    [(EffectStatus.DONE, "as done since"), (EffectStatus.NOT_DONE, "as not done")],
)
def test_what_was_recorded_since_is_told(status, words):
    run = factory.make_run()
    call = factory.make_call(run)
    effect = factory.start_effect(run, call, "gone")
    effect.status = status.value
    effect.finished_at = clock.now()
    effect.save()

    review = factory.park(run, ParkReason.OUTCOME_UNKNOWN, call=call)

    assert words in doubt.known(review)[0][1]


def test_a_call_that_is_not_in_the_ledger_is_said_so():
    review = factory.park(reason=ParkReason.OUTCOME_UNKNOWN)

    assert "no start of this call" in doubt.known(review)[0][1]
