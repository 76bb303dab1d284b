"""A wait for another try is bounded by the run's time and said in clean words."""

from __future__ import annotations

import pytest

from agentops import clock
from runs import engine
from runs.errors import Fatal, Transient
from runs.models import Attempt
from runs.services import start
from runs.tools import registry
from runs.tools.base import Effect, tool
from runs.values import VerdictKind
from runs.work import Work
from tests.flows.conftest import decide, make_agent
from tests.support.advance import OWNER, advance, provider, settle, take
from tests.support.replies import calls, error, text
from tests.support.sound import assert_sound

pytestmark = pytest.mark.django_db

CENTURY_S = 3.2e9
BUSY = error(500)


@tool(effect=Effect.READ)
def ask_to_wait(seconds: float) -> str:
    """Ask to come again later."""
    raise Transient("come\x00 again \ud800", retry_after=seconds)


@pytest.fixture
def run(boss):
    agent = make_agent(grants={"ask_to_wait": {"policy": "auto"}})
    with registry.added(ask_to_wait):
        yield start(agent=agent, by=boss, task="Wait", limits={"seconds": 100})


@pytest.mark.parametrize("seconds", [200.0, CENTURY_S, 1e300])
def test_a_run_is_not_put_to_sleep_for_longer_than_its_time(run, seconds):
    with provider(calls(("ask_to_wait", {"seconds": seconds}))):
        run = advance(run)
        waits_s = (run.wake_at - clock.now()).total_seconds()
        run = settle(run)

    assert waits_s <= 100
    assert run.park_reason == "budget"
    assert run.active_ms <= 101_000


def test_a_wait_without_a_limit_is_a_day_at_most(run, boss):
    run.limits["seconds"] = None
    run.save()

    with provider(calls(("ask_to_wait", {"seconds": CENTURY_S}))):
        run = advance(run)

    assert (run.wake_at - clock.now()).total_seconds() < 2 * 86_400


@pytest.mark.parametrize("ends", [BUSY, text("Done.")])
def test_a_try_that_another_driver_made_meanwhile_is_one_too(run, ends):
    take(run)
    held = engine.open(run.pk, OWNER)
    work = engine.proceed(held)
    assert isinstance(work, Work)
    with provider(ends, BUSY):
        outcome = work.perform()
        advance(run, owner="other:1:driver")
    take(run)
    held = engine.rejoin(held, engine.open(run.pk, OWNER))

    engine.record(held, outcome)

    run.refresh_from_db()
    assert run.steps.get().attempts == 2
    assert_sound(run)


def test_what_a_failed_try_said_is_kept_clean(run):
    with provider(calls(("ask_to_wait", {"seconds": 1}))):
        advance(run)

    assert Attempt.objects.get().error_text == "come\u2400 again \ufffd"


def test_a_model_that_asks_for_more_time_than_there_is_parks_the_run(boss):
    run = start(agent=make_agent(), by=boss, task="Say it", limits={"seconds": 100})
    busy = error(429, "rate_limit_exceeded", {"retry-after": "3600"})

    with provider(busy, text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.TOP_UP, limits={"seconds": 600})
        ended = settle(run)

    assert run.park_reason == "budget"
    assert ended.state == "completed"


class QuotaGone(Fatal):
    """An error that the author of a tool made up."""

    error_class = "the quota of the office is used up"


@tool(effect=Effect.READ)
def use_quota(what: str) -> str:
    """Use what is left."""
    raise QuotaGone("nothing is left")


def test_an_error_of_a_tools_own_kind_counts_as_what_it_is_a_kind_of(boss):
    agent = make_agent(grants={"use_quota": {"policy": "auto"}})
    with registry.added(use_quota), provider(calls(("use_quota", {"what": "x"}))):
        run = settle(start(agent=agent, by=boss, task="Use it"))

    assert run.park
    assert run.park_reason == "fatal"
    assert run.park["error"] == {"class": "fatal", "text": "nothing is left"}
