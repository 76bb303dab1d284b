"""Plans: made, refused when they are none, revised, and not left open silently."""

from __future__ import annotations

import pytest

from runs.services import start
from runs.values import VerdictKind
from tests.flows.conftest import decide, make_agent
from tests.support.advance import provider, settle
from tests.support.replies import plan, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def planning(boss):
    return start(agent=make_agent(plan_first=True), by=boss, task="Work")


@pytest.mark.parametrize(
    "answer",
    [
        "I will just do it.",
        '{"items": []}',
        '{"items": [{"text": ""}]}',
        "[]",
        " ",
        "NaN",
    ],
)
def test_what_is_no_plan_is_said_so_and_asked_for_again(planning, answer):
    with provider(text(answer), plan("Work"), text("Done.")) as model:
        run = settle(planning)

    assert run.state == "completed"
    assert [step.status for step in run.steps.all()] == [
        "failed",
        "succeeded",
        "succeeded",
    ]
    assert any(
        "That was not a plan" in message["content"]
        for message in model.requests[1].messages
    )


def test_no_plan_again_and_again_parks(planning, boss):
    with provider(*[text("No plan.")] * 3, plan("Work"), text("Done.")):
        run = settle(planning)
        parked = run.park_reason
        decide(run, boss, VerdictKind.GUIDE, text="Just one item.")
        run = settle(run)

    assert parked == "invalid_calls"
    assert run.state == "completed"
    assert run.plan_revision == 1


def test_an_answer_that_leaves_the_plan_open_is_nudged_then_parks(planning, boss):
    with provider(plan("a", "b", "c"), text("Done."), text("Done.")) as model:
        run = settle(planning)
        decide(run, boss, VerdictKind.APPROVE)
        run = settle(run)

    assert "Items 1, 2 of your plan" in model.requests[2].messages[-1]["content"]
    assert run.state == "completed"
