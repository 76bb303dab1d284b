"""What a call is reserved for is never below what it takes."""

from __future__ import annotations

import pytest

from runs import history
from runs.canonical import dumps
from runs.models import Run
from runs.services import start
from tests.flows.conftest import make_agent
from tests.support.advance import advance, provider, settle
from tests.support.replies import completion, error, plan, text

pytestmark = pytest.mark.django_db

OUTPUT = 100


def started(boss, task: str = "Say it", **fields) -> Run:
    agent = make_agent(max_output_tokens=OUTPUT, **fields)
    return start(agent=agent, by=boss, task=task)


def test_text_is_measured_in_bytes(boss):
    run = started(boss, task="発" * 3000)

    with provider(text("Done.")):
        run = advance(run)

    assert run.steps.get(number=1).reserved_tokens > 3000 + OUTPUT


def test_the_first_call_after_a_plan_counts_the_tools_it_is_the_first_to_send(boss):
    run = started(boss, plan_first=True)
    usage = {"prompt_tokens": 10, "completion_tokens": 1}

    with provider(plan("Say it", usage=usage), text("Done.")):
        run = settle(run)

    tools = len(dumps(history.blob(run.tools_digest))) / 3
    assert run.steps.get(number=2).reserved_tokens > tools + OUTPUT


def test_a_plan_counts_what_is_said_to_ask_for_it(boss):
    with provider(text("Done."), plan("Say it"), text("Done.")):
        plain = settle(started(boss))
        with_plan = settle(started(boss, plan_first=True, slug="planner"))

    tools = len(dumps(history.blob(plain.tools_digest))) / 3
    reserved = plain.steps.get(number=1).reserved_tokens - tools
    assert with_plan.steps.get(number=1).reserved_tokens > reserved + 100


def test_a_reply_that_was_refused_is_paid_for(boss):
    run = started(boss)
    refusal = completion({"role": "assistant", "content": None, "refusal": "No."})

    with provider(refusal):
        run = settle(run)

    assert run.park_reason == "refused"
    assert run.tokens == run.steps.get(number=1).reserved_tokens
    assert run.is_estimated


def test_a_request_that_was_refused_at_the_door_costs_nothing(boss):
    run = started(boss)

    with provider(error(401, "invalid_api_key")):
        run = settle(run)

    assert run.park_reason == "fatal"
    assert not run.tokens
    assert not run.cost


def test_absurd_figures_of_an_endpoint_count_as_none(boss):
    run = started(boss)
    usage = {"prompt_tokens": 10**11, "completion_tokens": 1}

    with provider(text("Done.", usage=usage)):
        run = settle(run)

    assert run.state == "completed"
    assert run.is_estimated
