"""The pages of runs: who sees what, with which status, in how many queries."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse

from agentops import clock
from runs.models import Agent, Run, Step
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(
        slug="metrics",
        name="Metrics",
        prompt="You count.",
        input_schema={
            "type": "object",
            "required": ["quarter"],
            "properties": {"quarter": {"type": "string"}},
        },
        task_template="Report on {quarter}.",
    )


def page_of(run: Run, name: str = "detail", *args) -> str:
    return reverse(f"runs:{name}", args=[run.id, *args])


# Access


@pytest.mark.parametrize("name", ["home", "runs:list", "runs:new", "reviews:inbox"])
def test_strangers_are_sent_to_the_sign_in(client, name):
    answer = client.get(reverse(name))

    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("login"))


def test_what_a_page_asks_for_by_itself_says_that_one_is_signed_out(client):
    answer = client.get(reverse("runs:rows"), headers=HTMX)

    assert answer.status_code == 401
    assert b"You are signed out" in answer.content


def test_an_unknown_run_is_not_found(as_operator):
    answer = as_operator.get(reverse("runs:detail", args=[uuid4()]))

    assert answer.status_code == 404
    assert b"There is nothing at this address" in answer.content


@pytest.mark.parametrize("name", ["detail", "live", "watch", "steps", "metrics"])
def test_a_submitter_does_not_see_the_runs_of_others(as_submitter, name):
    assert as_submitter.get(page_of(make_run(), name)).status_code == 404


# A new task


def test_an_unknown_agent_is_said_so(as_submitter, agent):
    answer = as_submitter.get(reverse("runs:new"), {"agent": "nobody"})

    assert answer.status_code == 404
    assert b"There is no such agent" in answer.content


def test_who_may_not_submit_is_told(client, django_user_model, agent):
    client.force_login(django_user_model.objects.create_user("guest"))

    assert client.get(reverse("runs:new")).status_code == 403


def test_a_task_becomes_a_run_once_however_often_it_is_sent(as_submitter, agent):
    sent = {"agent": "metrics", "inputs.quarter": "Q3 2024", "key": "once"}

    first = as_submitter.post(reverse("runs:new"), sent)
    second = as_submitter.post(reverse("runs:new"), sent)

    run = Run.objects.get()
    assert run.task == "Report on Q3 2024."
    assert first["Location"] == second["Location"] == page_of(run)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs.quarter": ""}, "This field is required."),
        ({"limits.steps": "0"}, "must be more than 0"),
        ({"limits.money": "-1"}, "must be more than 0"),
        ({"limits.money": "1e-999999999"}, "must have at most 6 decimals"),
        ({"limits.tokens": "lots"}, "must be a number"),
        ({"task": "x" * 30_000}, "characters"),
    ],
)
def test_bad_input_is_shown_and_nothing_typed_is_lost(
    as_submitter, agent, changes, words
):
    sent = {"agent": "metrics", "inputs.quarter": "Q3 <2024>", "key": "k"} | changes

    answer = as_submitter.post(reverse("runs:new"), sent)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in page
    assert "Nothing was started yet" in page
    assert changes.get("inputs.quarter", "Q3 &lt;2024&gt;") in page
    assert not Run.objects.exists()


def test_an_agent_that_is_switched_off_is_not_offered(as_submitter, agent):
    Agent.objects.update(enabled=False)

    answer = as_submitter.post(reverse("runs:new"), {"agent": "metrics"})

    assert answer.status_code == 422
    assert not Run.objects.exists()


def test_run_again_fills_the_form_in(as_submitter, agent, people):
    run = make_run(submitter=people.submitter, inputs={"quarter": "Q9"}, task="x")
    Run.objects.filter(pk=run.pk).update(agent=agent)

    answer = as_submitter.get(
        reverse("runs:new"), {"agent": "metrics", "again": run.id}
    )

    assert answer.context["form"]["inputs.quarter"].value() == "Q9"


# One run


def add_steps(run: Run, number: int) -> None:
    now = clock.now()
    done = {"status": "succeeded", "state": "executing", "kind": "model"}
    Step.objects.bulk_create(
        Step(run=run, number=n, planned_at=now, finished_at=now, **done)
        for n in range(1, number + 1)
    )


def test_a_long_history_comes_in_pages_without_a_gap(as_operator):
    run = make_run()
    add_steps(run, 230)

    newest = as_operator.get(page_of(run)).context
    middle = as_operator.get(
        page_of(run, "steps"), {"before": newest["earlier"]}
    ).context
    oldest = as_operator.get(
        page_of(run, "steps"), {"before": middle["earlier"]}
    ).context

    shown = [e.number for part in (oldest, middle, newest) for e in part["entries"]]
    assert shown == list(range(1, 231))
    assert oldest["earlier"] == 0


def test_a_refresh_keeps_the_head_of_the_list(as_operator):
    run = make_run()
    add_steps(run, 130)

    entries = as_operator.get(page_of(run, "live"), {"from": "20"}).context["entries"]

    assert (entries[0].number, entries[-1].number) == (20, 130)


def test_the_page_takes_the_same_queries_however_long_the_run(
    as_operator, django_assert_max_num_queries
):
    run = make_run()
    add_steps(run, 100)
    as_operator.get(page_of(run))

    with django_assert_max_num_queries(20):
        as_operator.get(page_of(run))


def test_a_run_is_shown_to_its_submitter(as_submitter, people):
    run = make_run(submitter=people.submitter, task="Count the apples.")

    page = as_submitter.get(page_of(run)).content.decode()

    assert "Count the apples" in page
    assert page_of(run, "live") in page


def test_the_live_fragment_stops_at_the_end(as_operator):
    run = make_run(state="completed", finished_at=clock.now(), wake_at=None)

    assert as_operator.get(page_of(make_run(), "live")).status_code == 200
    assert as_operator.get(page_of(run, "live")).status_code == 286


def test_a_parked_run_says_why_and_is_watched(as_submitter, people):
    park = {"title": "Send e-mail", "question": "The check is 62 % sure."}
    run = make_run(
        submitter=people.submitter,
        state="awaiting_human",
        parked_at=clock.now(),
        park_reason="low_confidence",
        park=park,
        wake_at=None,
    )

    page = as_submitter.get(page_of(run)).content.decode()
    still = as_submitter.get(page_of(run, "watch"), {"sequence": "0"})
    moved = as_submitter.get(page_of(run, "watch"), {"sequence": "7"})

    assert "waits now" in page.partition("The check is 62 % sure.")[2]
    assert still.status_code == 204
    assert moved["HX-Refresh"] == "true"


def test_what_a_model_wrote_is_never_markup(as_operator):
    run = make_run(
        state="completed",
        finished_at=clock.now(),
        wake_at=None,
        output="# Done\n<script>alert(1)</script>",
        task="<img src=x onerror=alert(1)> \u202ecount",
    )

    page = as_operator.get(page_of(run)).content.decode()

    assert "<script>alert" not in page
    assert "<img" not in page
    assert "U+202E" in page


def test_a_run_is_cancelled_once_and_then_it_is_too_late(as_submitter, people):
    run = make_run(submitter=people.submitter)
    sent = ({"preset": "other"}, {"preset": "cost", "own": "So far."}, {"own": "No."})

    answers = [as_submitter.post(page_of(run, "cancel"), one) for one in sent]

    run.refresh_from_db()
    assert [answer.status_code for answer in answers] == [422, 302, 409]
    assert run.state == "aborted"
    assert b"This run has ended already" in answers[-1].content
    why = run.transitions.get(to_state="aborted").reason
    assert why == "It costs more than it is worth. So far."


def test_cancelling_takes_a_post(as_submitter, people):
    run = make_run(submitter=people.submitter)

    assert as_submitter.get(page_of(run, "cancel")).status_code == 405


def test_the_figures_come_as_json(as_operator):
    run = make_run()

    assert as_operator.get(page_of(run, "metrics")).json()["run_id"] == str(run.id)
