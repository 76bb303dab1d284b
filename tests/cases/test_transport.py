"""Cases A: what endpoints and networks do, and what becomes of the run."""

from __future__ import annotations

import json
from email.utils import format_datetime

import pytest
from django.urls import reverse

from agentops import clock
from agentops.conf import product
from agentops.redaction import has_placeholder
from reviews import outbox
from reviews.models import Notification, Review
from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Attempt, Run, Step, Transition
from runs.services import start
from runs.values import VerdictKind
from tests.cases.conftest import case_agent
from tests.flows.conftest import decide
from tests.support.advance import advance, park_of, provider, release, served, settle
from tests.support.provider import ScriptedProvider
from tests.support.replies import calls, completion, drip, error, hang, raw, reset, text
from tests.support.wait import cut_short

pytestmark = [pytest.mark.django_db, pytest.mark.once]

DONE = text("Done.")
KEY = "sk-test"
PAGE = "<html><b>Bad gateway</b>" + "x" * 9000


@pytest.fixture(params=[provider, served], ids=["transport", "socket"])
def endpoint(request):
    """A scripted endpoint behind the real client, each way."""
    return request.param


def waits_s(run: Run) -> float:
    assert run.wake_at is not None
    return (run.wake_at - clock.now()).total_seconds()


def test_a01_a_retry_is_not_before_the_endpoint_wants_it(run, configured, endpoint):
    configured(backoff_base_s=0.01)

    with endpoint(error(429, headers={"retry-after": "5"}), DONE):
        run = advance(run)
        waiting = (run.state, run.lease_owner, run.steps.get().attempts)
        waited_s = waits_s(run)
        run = settle(run)

    assert waiting == ("executing", "", 1)
    assert 4 < waited_s < 6
    assert run.state == "completed"
    assert run.steps.get().attempts == 2


def test_a01_tries_are_counted_over_the_death_of_a_worker(run, endpoint):
    with endpoint(then=error(429, headers={"retry-after": "1"})) as model:
        for _ in range(3):
            run = advance(run)
            release(run)
        run = settle(run)

    assert (run.park_reason, len(model.requests)) == ("retries", 5)
    assert [attempt.number for attempt in Attempt.objects.order_by("number")] == [
        1,
        2,
        3,
        4,
    ]


ODD_WAITS = [
    "-5",
    "0",
    "1e400",
    "soon",
    "",
    "Wed, 99 Foo 2026 99:00:00 GMT",
    "1,2",
]
PAST = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize("status", [429, 503])
def test_a02_a_hint_that_makes_no_sense_is_no_hint(run, endpoint, configured, status):
    configured(max_attempts=20, backoff_base_s=0.01)
    hints = [{"retry-after": hint} for hint in (*ODD_WAITS, PAST)]
    hints += [{"retry-after-ms": "-1"}, {"retry-after-ms": "x", "retry-after": "nan"}]
    waits = []

    with endpoint(*[error(status, headers=hint) for hint in hints], DONE):
        for _ in hints:
            run = advance(run)
            waits.append(waits_s(run))
        run = settle(run)

    assert run.state == "completed"
    assert max(waits) < 60


@pytest.mark.parametrize(
    "hint", ["999999999", "86401.5", "Fri, 31 Dec 9999 23:59:59 GMT"]
)
def test_a02_nobody_waits_for_longer_than_a_day_or_its_own_time(run, endpoint, hint):
    with endpoint(error(429, headers={"retry-after": hint})):
        run = advance(run)

    day = 24 * 3600
    assert run.wake_at is None or waits_s(run) <= day + 60
    assert run.state in {"executing", "awaiting_human"}


def test_a02_a_date_to_come_back_at_is_kept(run, endpoint):
    at = format_datetime(clock.later(60), usegmt=True)

    with endpoint(error(429, headers={"retry-after": at}), DONE):
        run = advance(run)
        waited_s = waits_s(run)
        settle(run)

    assert 57 < waited_s < 63


def test_a04_no_quota_parks_at_once_and_goes_on_once_paid(run, boss, endpoint):
    with endpoint(error(429, "insufficient_quota"), DONE) as model:
        run = settle(run)
        parked = (run.park_reason, len(model.requests), park_of(run)["question"])
        decide(run, boss, VerdictKind.RETRY)
        run = settle(run)

    assert parked[:2] == ("fatal", 1)
    assert "billing" in parked[2]
    assert run.state == "completed"


def test_a04_billing_may_be_said_in_several_ways(run, endpoint):
    refusal = error(403, type="billing_not_active", message="Please add a card.")

    with endpoint(refusal) as model:
        run = settle(run)

    assert (run.park_reason, len(model.requests)) == ("fatal", 1)
    assert "billing" in park_of(run)["question"]


LONG = calls(("odd", {"kind": "long"}))
TOO_LONG = error(400, "context_length_exceeded")


def test_a06_a_prompt_that_is_too_long_is_shortened_once(run, endpoint):
    script = [LONG, calls(("echo", {"text": "b"})), TOO_LONG, DONE]

    with endpoint(*script) as model:
        run = settle(run)

    sizes = [len(json.dumps(body)) for body in model.bodies]
    assert sizes[3] < sizes[2] - 10_000
    assert run.state == "completed"
    assert Step.objects.get(kind="compaction").status == "succeeded"


def test_a06_a_prompt_that_stays_too_long_parks(run, endpoint):
    script = [LONG, calls(("echo", {"text": "b"})), TOO_LONG, TOO_LONG]

    with endpoint(*script) as model:
        run = settle(run)

    bodies = [json.dumps(body) for body in model.bodies]
    assert (run.state, run.park_reason) == ("awaiting_human", "context")
    assert len(set(bodies)) == len(bodies) == 4


def test_a06_with_nothing_to_shorten_it_parks_after_one_request(run, endpoint):
    with endpoint(TOO_LONG) as model:
        run = settle(run)

    assert (run.park_reason, len(model.requests)) == ("context", 1)


def test_a07_a_run_killed_between_call_and_result_goes_on_whole(run, endpoint):
    script = [calls(("echo", {"text": "a"}), ("echo", {"text": "b"})), DONE]

    with endpoint(*script) as model:
        run = advance(run, steps=2)
        release(run)
        run = settle(run)

    assert run.state == "completed"
    assert len(model.requests) == 2


def test_a07_a_refused_request_parks_and_is_not_repeated(run, endpoint):
    with endpoint(error(400, "invalid_request")) as model:
        run = settle(run)

    assert (run.park_reason, len(model.requests)) == ("fatal", 1)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    "says", [f"Incorrect API key provided: {KEY}.", f"{KEY} is of nobody", f"x{KEY}x"]
)
def test_a08_a_bad_key_parks_and_is_shown_nowhere(
    run, boss, endpoint, status, says, client, caplog, mailoutbox
):
    boss.email = "boss@example.com"
    boss.save()
    client.force_login(boss)
    review_page = Review.objects.filter(run=run)

    with endpoint(error(status, message=says)) as m:
        run = settle(run)
    outbox.deliver()

    pages = [
        reverse("runs:detail", args=[run.pk]),
        reverse("runs:step", args=[run.pk, 1]),
    ]
    pages.append(reverse("reviews:detail", args=[review_page.get().pk]))
    shown = [client.get(page).content.decode() for page in pages]
    told = [mail.subject + mail.body for mail in mailoutbox]
    assert (run.park_reason, len(m.requests)) == ("fatal", 1)
    assert KEY not in "".join([*shown, *told, caplog.text, stored()])
    assert has_placeholder(stored())


def stored():
    """What the tables hold of runs, reviews and notices."""
    models = (Run, Step, Attempt, Transition, Review, Notification)
    return "".join(str(list(model.objects.values())) for model in models)


def test_a10_a_parameter_the_endpoint_refuses_is_named(run, endpoint):
    refusal = error(400, "unsupported_parameter", param="max_completion_tokens")

    with endpoint(refusal) as model:
        run = settle(run)

    assert "max_tokens" not in model.bodies[0]
    assert "parameter max_completion_tokens" in park_of(run)["question"]


@pytest.mark.parametrize("status", [502, 504])
def test_a13_a_web_page_instead_of_an_answer_is_stored_short_and_plain(
    run, boss, endpoint, client, status
):
    with endpoint(then=raw(PAGE, "text/html", status)) as model:
        run = settle(run)

    client.force_login(boss)
    page = client.get(reverse("runs:detail", args=[run.pk])).content.decode()
    step = run.steps.get()
    assert (run.park_reason, len(model.requests)) == ("retries", 5)
    assert len(step.error_text) <= 500
    assert "<" not in step.error_text
    assert "Bad gateway" in step.error_text
    assert "<b>Bad gateway" not in page


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
def test_a14_what_is_no_answer_is_tried_again(run, reply, endpoint):
    with endpoint(reply, DONE):
        run = settle(run)

    assert run.state == "completed"
    assert Attempt.objects.get().error_class == "transient"


@pytest.mark.parametrize(
    ("status", "park"),
    [
        *((status, "retries") for status in (408, 409, 425, 429, 500, 503, 529, 999)),
        *((status, "fatal") for status in (304, 400, 402, 405, 415, 418, 422, 451)),
        (413, "context"),
    ],
)
def test_a14_any_status_is_one_of_three_things(run, endpoint, status, park):
    reply = raw("<html><b>Sorry</b>", "text/html", status)

    with endpoint(then=reply) as model:
        run = settle(run)

    assert run.park_reason == park
    assert len(model.requests) == (5 if park == "retries" else 1)


def test_a16_the_queue_waits_longer_than_any_call(settings):
    longest_s = product().drive_slice_s + product().model_deadline_s

    assert settings.Q_CLUSTER["retry"] > product().drive_timeout_s > longest_s


def test_a16_a_driver_gets_the_time_that_a_slow_model_needs(configured):
    configured(drive_slice_s=10.0, model_deadline_s=3000.0)

    assert product().drive_timeout_s > 3010


@pytest.mark.parametrize("reply", [hang(), drip(DONE, 0.05)])
def test_a16_silence_ends_at_the_deadline_of_the_whole_call(run, configured, reply):
    configured(model_deadline_s=0.4)
    scripted = ScriptedProvider(reply, DONE)

    with scripted.serve() as url, using(OpenAIClient(url, "sk-test")):
        with cut_short():
            first = advance(run)
        run = settle(first)

    assert first.wake_at is not None
    assert first.lease_owner == ""
    assert Attempt.objects.get().error_class == "transient"
    assert run.state == "completed"


def test_a18_twenty_runs_do_not_come_back_together(boss, endpoint):
    agent = case_agent()
    runs = [start(agent=agent, by=boss, task="Work") for _ in range(20)]

    with endpoint(then=error(529)):
        waits = [waits_s(advance(run)) for run in runs]
        for run in runs:
            release(run)
        longer = [waits_s(advance(run)) for run in runs]

    assert len({round(wait, 2) for wait in waits}) >= 15
    assert sum(longer) > sum(waits)
    assert {run.steps.get().attempts for run in runs} == {2}


def test_a18_an_endpoint_that_says_do_not_retry_is_tried_again(run, endpoint):
    with endpoint(error(500, headers={"x-should-retry": "false"}), DONE):
        run = settle(run)

    assert run.state == "completed"


def test_a18_a_lost_answer_keeps_its_reservation_as_spent(boss, endpoint):
    run = start(agent=case_agent(model="gpt-5-mini"), by=boss, task="Work")

    with endpoint(error(504), completion({"role": "assistant", "content": "Done."})):
        run = settle(run)

    step, attempt = run.steps.get(), Attempt.objects.get()
    assert run.state == "completed"
    assert attempt.cost == step.reserved_cost > 0
    assert run.cost == step.cost > attempt.cost
    assert run.is_estimated
