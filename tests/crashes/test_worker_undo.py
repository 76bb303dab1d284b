"""What is approved happens when its window is over, once, whoever dies meanwhile."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from django.contrib.auth.models import User

from agentops import clock
from reviews import services as reviews
from reviews import undo
from reviews.models import Decision, Review
from runs.models import Agent, Effect, Run
from runs.services import start
from tests.support.fleet import fleet, living_drivers, wait_until_finished
from tests.support.replies import Answer, calls, check, text
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

WINDOW_S = 3.0
MAIL = {"to": ["ana@example.com"], "subject": "Hello", "body_markdown": "Fine."}
LONG_S = 30.0


def _answer(body: dict[str, Any]) -> Answer:
    if "response_format" in body:
        return check(0.2)
    if any(message["role"] == "tool" for message in body["messages"]):
        return text("Done.")
    return calls(("send_email", MAIL))


@pytest.fixture
def parked(live_project):
    with fleet(live_project, answer=_answer) as made:
        project = made.project()
        boss = User.objects.create_superuser("boss", "boss@example.com")
        agent = Agent.objects.create(
            slug="clerk",
            name="Clerk",
            prompt="You write letters.",
            plan_first=False,
            grants={
                "send_email": {
                    "policy": "ask_below",
                    "settings": {"allow_domains": ["example.com"]},
                }
            },
            limits={"money": None},
        )
        run = start(agent=agent, by=boss, task="Write a letter.")
        wait_until(Review.objects.exists, timeout_s=LONG_S, what="a review")
        yield project, run, boss


@pytest.fixture(autouse=True)
def window(configured):
    configured(undo_irreversible_s=WINDOW_S, allow_self_decision=True)


def approve(by):
    review = Review.objects.get()
    return reviews.decide(
        review.pk,
        by=by,
        kind="approve",
        item_version=review.version,
        digest=review.digest,
    )


def letters(project):
    return [mail for mail in project.mails() if "Subject: Hello" in mail]


def test_an_idle_worker_acts_as_soon_as_the_window_is_over(parked):
    project, run, boss = parked
    wait_until(_is_idle, timeout_s=LONG_S, what="the drivers to leave")

    decision = approve(boss)

    wait_until_finished(LONG_S)
    begun_at = Effect.objects.get(run=run).started_at
    waited_s = (begun_at - decision.effective_at).total_seconds()
    assert 0 <= waited_s < WINDOW_S
    assert len(letters(project)) == 1


def test_it_happens_once_when_all_workers_die_in_the_window(parked):
    project, run, boss = parked
    decision = approve(boss)
    project.kill_tree("worker", signal.SIGKILL)
    assert not Effect.objects.filter(run=run).exists()

    project.start_worker()

    wait_until_finished(LONG_S)
    assert len(letters(project)) == 1
    assert Effect.objects.get(run=run).started_at >= decision.effective_at


def test_what_is_taken_back_never_happens(parked):
    project, run, boss = parked
    review = undo.undo(approve(boss).review_id, by=boss)

    over = clock.later(WINDOW_S + 1)
    wait_until(lambda: clock.now() > over, what="the window to be over")
    reviews.decide(
        review.pk,
        by=boss,
        kind="reject",
        item_version=review.version,
        payload={"text": "Not now."},
    )

    wait_until_finished(LONG_S)
    assert letters(project) == []
    assert not Effect.objects.filter(run=run).exists()
    assert Run.objects.get().state == "completed"
    assert Decision.objects.count() == 2


def _is_idle() -> bool:
    return not living_drivers().exists()
