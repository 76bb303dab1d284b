"""A process dies, or freezes, in the middle of a call that is counted outside."""

from __future__ import annotations

import psutil
import pytest
from django.contrib.auth.models import User

from reviews import doubt
from reviews.models import Review
from reviews.services import decide
from runs.errors import BadInput
from runs.models import Agent, Effect, Run
from runs.services import start
from runs.states import EffectStatus
from tests.support import acts
from tests.support.fleet import (
    assert_well,
    assert_whole,
    fleet,
    pid_of,
    wait_until_finished,
)
from tests.support.outside import servers
from tests.support.replies import calls, text
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

LONG_S = 60.0
ORDER = {"method": "POST", "body": "one"}
LOOK = {"method": "GET"}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    with servers.serving(takes_s=0) as shop:
        shop.gate.clear()
        yield shop
        shop.gate.set()


@pytest.fixture
def calling(live_project, shop):
    """Call it with a call's arguments: a run makes that call and a second one, and
    is in the middle of the first."""

    def answer(body):
        if any(message["role"] == "tool" for message in body["messages"]):
            return text("Done.")
        wanted = {"url": f"{shop.url}/orders"} | started["call"]
        return calls(("http_request", wanted), ("calculate", {"expression": "1 + 1"}))

    started = {}
    with fleet(live_project, answer=answer) as made:
        project = made.project(
            **shop.environment(), AGENTOPS_LEASE_S="3", AGENTOPS_HEARTBEAT_S="1"
        )

        def begin(call):
            started["call"] = call
            run = start(agent=_agent(), by=_person("asker"), task="Order one.")
            wait_until(lambda: shop.paths, timeout_s=LONG_S, what="the call")
            return project, run

        yield begin


def _person(name):
    return User.objects.get_or_create(username=name, is_superuser=True)[0]


def _agent():
    private = {"allow_private": ["127.0.0.1"]}
    return Agent.objects.create(
        slug="buyer",
        name="Buyer",
        prompt="You order.",
        plan_first=False,
        grants={
            "http_request": {"policy": "auto", "settings": private},
            "calculate": {"policy": "auto"},
        },
        limits={"money": None},
    )


def driver_of(run):
    owner = Run.objects.values_list("lease_owner", flat=True).get(pk=run.pk)
    return psutil.Process(pid_of(owner))


def parked(run):
    def review():
        return Review.objects.open().filter(run=run).first()

    found = wait_until(review, timeout_s=LONG_S, what="the park")
    assert found.reason == "outcome_unknown"
    return found


def say(review, happened):
    decide(
        review.pk,
        by=_person("boss"),
        kind="outcome",
        item_version=review.version,
        digest=review.digest,
        payload={"happened": happened},
    )


def test_d06_a_call_that_reads_is_made_again(calling, shop):
    project, run = calling(LOOK)

    driver_of(run).kill()
    shop.gate.set()

    wait_until_finished(LONG_S)
    assert_whole()
    assert shop.paths == ["/orders"] * 2
    assert_well(project)


def test_d06_an_act_without_a_result_is_a_persons_to_tell(calling, shop):
    project, run = calling(ORDER)

    driver_of(run).kill()

    review = parked(run)
    known = {name: words for name, words, _ in doubt.known(review)}
    assert known["That worker"].startswith("Known to have ended")
    say(review, "yes")
    wait_until_finished(LONG_S)
    assert_whole()
    assert shop.paths == ["/orders"]
    assert_well(project)


def test_a_frozen_driver_is_not_dead_and_its_writes_are_refused(calling, shop):
    project, run = calling(ORDER)
    driver = driver_of(run)

    driver.suspend()
    review = parked(run)
    with pytest.raises(BadInput, match="no is not one of the available"):
        say(review, "no")
    sequence = Run.objects.get().sequence
    driver.resume()
    shop.gate.set()

    wait_until(
        lambda: Effect.objects.get().status == EffectStatus.DONE,
        timeout_s=LONG_S,
        what="the ledger's word of it",
    )
    assert Run.objects.get().sequence == sequence
    say(review, "yes")
    wait_until_finished(LONG_S)
    assert_whole()
    assert shop.paths == ["/orders"]
    assert_well(project)
