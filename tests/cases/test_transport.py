"""Rows A: what endpoints and networks do, and what becomes of the run."""

from __future__ import annotations

import json
import time
from email.utils import format_datetime

import pytest

from agentops import clock
from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Attempt, Run, Step
from runs.services import start
from runs.values import VerdictKind
from tests.cases.conftest import case_agent
from tests.flows.conftest import decide
from tests.support.advance import advance, park_of, provider, release, settle
from tests.support.provider import ScriptedProvider
from tests.support.replies import calls, completion, drip, error, hang, raw, reset, text

pytestmark = pytest.mark.django_db

DONE = text("Done.")


def waits_s(run: Run) -> float:
    assert run.wake_at is not None
    return (run.wake_at - clock.now()).total_seconds()


def test_a01_a_retry_is_not_before_the_endpoint_wants_it(run, configured):
    configured(backoff_base_s=0.01)

    with provider(error(429, headers={"retry-after": "5"}), DONE):
        run = advance(run)
        waiting = (run.state, run.lease_owner, run.steps.get().attempts)
        waited_s = waits_s(run)
        run = settle(run)

    assert waiting == ("executing", "", 1)
    assert 4 < waited_s < 6
    assert run.state == "completed"
    assert run.steps.get().attempts == 2


def test_a02_a_date_to_come_back_at_is_kept(run):
    at = format_datetime(clock.later(60), usegmt=True)

    with provider(error(429, headers={"retry-after": at}), DONE):
        run = advance(run)
        waited_s = waits_s(run)
        settle(run)

    assert 57 < waited_s < 63


def test_a04_no_quota_parks_at_once_and_goes_on_once_paid(run, boss):
    with provider(error(429, "insufficient_quota"), DONE) as model:
        run = settle(run)
        parked = (run.park_reason, len(model.requests), park_of(run)["question"])
        decide(run, boss, VerdictKind.RETRY)
        run = settle(run)

    assert parked[:2] == ("fatal", 1)
    assert "billing" in parked[2]
    assert run.state == "completed"


LONG = calls(("odd", {"kind": "long"}))
TOO_LONG = error(400, "context_length_exceeded")


def test_a06_a_prompt_that_is_too_long_is_shortened_once(run):
    script = [LONG, calls(("echo", {"text": "b"})), TOO_LONG, DONE]

    with provider(*script) as model:
        run = settle(run)

    sizes = [len(json.dumps(body)) for body in model.bodies]
    assert sizes[3] < sizes[2] - 10_000
    assert run.state == "completed"
    assert Step.objects.get(kind="compaction").status == "succeeded"


def test_a06_a_prompt_that_stays_too_long_parks(run):
    script = [LONG, calls(("echo", {"text": "b"})), TOO_LONG, TOO_LONG]

    with provider(*script) as model:
        run = settle(run)

    bodies = [json.dumps(body) for body in model.bodies]
    assert (run.state, run.park_reason) == ("awaiting_human", "context")
    assert len(set(bodies)) == len(bodies) == 4


def test_a06_with_nothing_to_shorten_it_parks_after_one_request(run):
    with provider(TOO_LONG) as model:
        run = settle(run)

    assert (run.park_reason, len(model.requests)) == ("context", 1)


def test_a07_a_run_killed_between_call_and_result_goes_on_whole(run):
    script = [calls(("echo", {"text": "a"}), ("echo", {"text": "b"})), DONE]

    with provider(*script) as model:
        run = advance(run, steps=2)
        release(run)
        run = settle(run)

    assert run.state == "completed"
    assert len(model.requests) == 2


def test_a07_a_refused_request_parks_and_is_not_repeated(run):
    with provider(error(400, "invalid_request")) as model:
        run = settle(run)

    assert (run.park_reason, len(model.requests)) == ("fatal", 1)


@pytest.mark.parametrize("status", [401, 403])
def test_a08_a_bad_key_parks_and_is_shown_nowhere(run, status):
    refusal = error(status, message="Incorrect API key provided: sk-test.")

    with provider(refusal) as model:
        run = settle(run)

    stored = json.dumps([run.park, list(Step.objects.values_list("error_text"))])
    assert (run.park_reason, len(model.requests)) == ("fatal", 1)
    assert "sk-test" not in stored


def test_a10_a_parameter_the_endpoint_refuses_is_named(run):
    refusal = error(400, "unsupported_parameter", param="max_completion_tokens")

    with provider(refusal) as model:
        run = settle(run)

    assert "max_tokens" not in model.bodies[0]
    assert "parameter max_completion_tokens" in park_of(run)["question"]


@pytest.mark.parametrize("status", [502, 504])
def test_a13_a_web_page_instead_of_an_answer_is_stored_short_and_plain(run, status):
    page = raw("<html><b>Bad gateway</b>" + "x" * 9000, "text/html", status)

    with provider(then=page) as model:
        run = settle(run)

    step = run.steps.get()
    assert (run.park_reason, len(model.requests)) == ("retries", 5)
    assert len(step.error_text) <= 500
    assert "<" not in step.error_text
    assert "Bad gateway" in step.error_text


@pytest.mark.parametrize(
    "reply",
    [
        raw("<html>hello", "text/html"),
        raw(b""),
        raw("just words", "text/plain"),
        raw('{"choices": [{"mess'),
        raw("é".encode("latin-1")),
        raw("[]"),
        reset(),
    ],
)
def test_a14_what_is_no_answer_is_tried_again(run, reply):
    with provider(reply, DONE):
        run = settle(run)

    assert run.state == "completed"
    assert Attempt.objects.get().error_class == "transient"


@pytest.mark.parametrize("reply", [hang(), drip(DONE, 0.05)])
def test_a16_silence_ends_at_the_deadline_of_the_whole_call(run, configured, reply):
    configured(model_deadline_s=0.4)
    scripted = ScriptedProvider(reply, DONE)

    begun = time.monotonic()
    with scripted.serve() as url, using(OpenAIClient(url, "sk-test")):
        first = advance(run)
        took_s = time.monotonic() - begun
        run = settle(first)

    assert took_s < 5
    assert first.wake_at is not None
    assert Attempt.objects.get().error_class == "transient"
    assert run.state == "completed"


def test_a18_twenty_runs_do_not_come_back_together(boss):
    agent = case_agent()
    runs = [start(agent=agent, by=boss, task="Work") for _ in range(20)]

    with provider(then=error(529)):
        waits = [waits_s(advance(run)) for run in runs]
        longer = [waits_s(advance(run)) for run in runs]

    assert len({round(wait, 2) for wait in waits}) >= 15
    assert sum(longer) > sum(waits)
    assert {run.steps.get().attempts for run in runs} == {2}


def test_a18_an_endpoint_that_says_do_not_retry_is_tried_again(run):
    with provider(error(500, headers={"x-should-retry": "false"}), DONE):
        run = settle(run)

    assert run.state == "completed"


def test_a18_a_lost_answer_keeps_its_reservation_as_spent(boss):
    run = start(agent=case_agent(model="gpt-5-mini"), by=boss, task="Work")

    with provider(error(504), completion({"role": "assistant", "content": "Done."})):
        run = settle(run)

    step, attempt = run.steps.get(), Attempt.objects.get()
    assert run.state == "completed"
    assert attempt.cost == step.reserved_cost > 0
    assert run.cost == step.cost > attempt.cost
    assert run.is_estimated
