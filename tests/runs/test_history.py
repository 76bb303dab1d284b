"""The exact prompt of a step, proved, or not shown at all."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from runs import history
from runs.models import Agent, Run, Step
from runs.services import start
from tests.support.advance import provider, settle
from tests.support.replies import calls, plan, text

pytestmark = pytest.mark.django_db


@pytest.fixture
def played():
    boss = User.objects.create_superuser("boss")
    agent = Agent.objects.create(
        slug="a", name="A", prompt="You work.", grants={"calculate": {"policy": "auto"}}
    )
    script = [plan("Add"), calls(("calculate", {"expression": "1+1"})), text("2")]
    with provider(*script) as model:
        run = settle(start(agent=agent, by=boss, task="Add"))
    return run, model.bodies


def test_a_prompt_is_rebuilt_as_it_was_sent(played):
    run, sent = played
    numbers = [step.number for step in Step.objects.exclude(kind="tool")]

    assert [history.prompt_of(run, n) for n in numbers] == [
        body["messages"] for body in sent
    ]
    assert history.blob(run.tools_digest) == sent[1]["tools"]


def test_a_tool_step_sent_no_prompt(played):
    run, _ = played
    with pytest.raises(LookupError):
        history.prompt_of(run, Step.objects.get(kind="tool").number)


def test_a_prompt_that_cannot_be_proved_is_not_shown(played):
    run, _ = played
    Run.objects.filter(pk=run.pk).update(task="Something else")
    run.refresh_from_db()

    with pytest.raises(LookupError, match="cannot be proved"):
        history.prompt_of(run, run.sequence)
