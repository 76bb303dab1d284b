"""Before a run starts, its agent's past says what to expect."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agentops import clock
from runs import expectation
from runs.models import Agent, Run, Tool
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(
        slug="metrics",
        name="Metrics",
        prompt="Count.",
        grants={
            "calculate": {"policy": "auto"},
            "send_email": {"policy": "ask_below", "threshold": 0.8},
            "http_request": {"policy": "blocked"},
        },
    )


def finished(agent: Agent, cost: str, **fields) -> None:
    run = make_run(state="completed", finished_at=clock.now(), wake_at=None, **fields)
    Run.objects.filter(pk=run.pk).update(agent=agent, cost=Decimal(cost))


def test_a_few_runs_are_too_few_to_tell(agent):
    finished(agent, "0.004")

    assert expectation.of(agent) is None


def test_it_tells_the_usual_and_the_most(agent):
    for number in range(1, 11):
        waited = 1000 if number == 1 else 0
        finished(
            agent,
            f"0.00{number:02}",
            active_ms=number * 1000,
            steps_used=9 + number % 3,
            waited_ms=waited,
        )

    expected = expectation.of(agent)

    assert expected is not None
    assert expected.runs == 10
    assert expected.usual == Decimal("0.0006")
    assert expected.most == Decimal("0.0010")
    assert expected.asks == "1 of 10 runs"
    assert expected.steps_in_words == "9 to 11 steps"
    assert sum(column.is_usual for column in expected.columns) >= 1


def test_abilities_say_when_a_tool_asks(agent):
    found = {one.title: one.when for one in expectation.abilities(agent)}

    assert found == {"Calculate": "by itself", "Send e-mail": "asks below 80 %"}


def test_what_an_admin_made_stricter_is_shown_so(agent):
    Tool.objects.update_or_create(name="send_email", defaults={"policy": "always"})
    Tool.objects.update_or_create(name="calculate", defaults={"enabled": False})

    found = {one.title: one.when for one in expectation.abilities(agent)}

    assert found == {"Send e-mail": "always asks"}
