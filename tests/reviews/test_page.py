"""An item's page: how much it asks for, and the steps of a run that goes on."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews import notes, services
from reviews.models import Review
from runs import leases
from runs.models import Run, Step
from runs.states import ParkReason, RunState, StepKind
from tests.support import factory

pytestmark = pytest.mark.django_db

MOST_QUERIES = 15


@pytest.fixture
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


def address(review: Review, name: str = "detail") -> str:
    return reverse(f"reviews:{name}", args=[review.pk])


def a_long_run(steps: int = 400) -> Run:
    run = factory.make_run()
    first = factory.add_step(run, StepKind.MODEL, response={"content": "Hm."})
    Step.objects.bulk_create(
        Step(
            run=run,
            number=number,
            kind="tool",
            name="post_letter",
            status="succeeded",
            state=run.state,
            response={"result": {"rows": [{"month": "2024-07", "revenue": number}]}},
            planned_at=first.planned_at,
            finished_at=first.planned_at,
        )
        for number in range(2, steps + 1)
    )
    run.sequence = steps
    run.save()
    return run


def test_a_history_of_any_length_takes_the_same_few_queries(
    client, ana, django_assert_max_num_queries
):
    review = factory.park(a_long_run())
    notes.add(review, by=ana, text="A note")
    client.get(address(review))

    with django_assert_max_num_queries(MOST_QUERIES):
        answer = client.get(address(review))

    assert len(answer.context["entries"]) == 100
    assert "Show the steps before 303" in answer.content.decode()


def test_an_unknown_outcome_takes_few_queries_too(
    client, ana, django_assert_max_num_queries
):
    run = factory.make_run()
    call = factory.make_call(run)
    factory.start_effect(run, call, leases.begin(97))
    review = factory.park(run, ParkReason.OUTCOME_UNKNOWN, call=call)
    client.get(address(review))

    with django_assert_max_num_queries(MOST_QUERIES):
        page = client.get(address(review)).content.decode()

    assert "Known to have ended" in page


def decided(by, kind: str = "reject") -> Review:
    review = factory.park()
    services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload={"text": "No."},
    )
    return Review.objects.get(pk=review.pk)


def test_the_steps_of_a_decided_item_go_on_until_the_run_rests(client, ana):
    review = decided(ana)
    run = Run.objects.get(pk=review.run_id)

    page = client.get(address(review)).content.decode()
    moving = client.get(address(review, "happened"), {"from": "1"})
    factory.change_state(run, RunState.COMPLETED)
    resting = client.get(address(review, "happened"), {"from": "1"})

    assert f'hx-get="{address(review, "happened")}"' in page
    assert moving.status_code == 200
    assert resting.status_code == 286
    assert b"hx-trigger" not in resting.content.split(b"<ol", 1)[0]


def test_an_item_that_waits_does_not_ask_for_its_steps_again(client, ana):
    review = factory.park()

    page = client.get(address(review)).content.decode()

    assert f'hx-get="{address(review, "happened")}"' not in page


def test_the_reader_keeps_the_head_of_the_list(client, ana):
    review = factory.park(a_long_run(150))

    answer = client.get(address(review, "happened"), {"from": "20"})

    assert answer.context["entries"][0].number == 20


def test_a_run_that_parked_again_leads_to_its_new_item(client, ana):
    old = decided(ana)
    new = factory.park(Run.objects.get(pk=old.run_id))

    for way in ("detail", "happened"):
        page = client.get(address(old, way), {"line": "shown"}).content.decode()
        assert f'<a href="{address(new)}">Read and decide</a>' in page


def test_more_steps_than_the_budget_counts_are_explained(client, ana):
    review = factory.park()
    run = review.run

    before = client.get(address(review)).content.decode()

    assert run.sequence > run.steps_used
    assert "decisions and what was not carried out are free" in before


def test_a_step_left_behind_by_an_abort_was_not_carried_out(client, ana):
    review = decided(ana, "abort")
    run = Run.objects.get(pk=review.run_id)
    factory.add_step(run, StepKind.TOOL, name="post_letter", status="planned")

    page = client.get(address(review)).content.decode()

    assert "Not carried out" in page
    assert "Under way" not in page


@pytest.mark.parametrize(("query", "brings_steps"), [("&notes=0", True), ("", False)])
def test_a_change_is_told_and_brings_the_page_its_steps(
    client, ana, query, brings_steps
):
    review = decided(ana)

    page = client.get(f"{address(review, 'live')}?state=1+open{query}").content.decode()

    assert "Rejected by ana" in page
    assert "still here to copy" in page
    again = f'id="steps-of-{review.version}" hx-get="{address(review, "happened")}"'
    assert (again in page) is brings_steps
    assert ("#after > input" in page) is brings_steps  # the line that tells how it goes


def test_the_pane_tells_like_cases_and_notes_in_short(client, ana):
    decided(ana)
    review = factory.park()
    notes.add(review, by=ana, text="One")
    notes.add(review, by=ana, text="Two")

    pane = client.get(address(review, "pane")).content.decode()

    assert "0 of 1 approved" in pane
    assert "2 notes of reviewers" in pane
    assert f"{address(review)}#step-" not in pane
    assert pane.count(address(review, "live")) == pane.count('id="changed"') == 1
    assert "notes-number" not in pane.replace("#notes-number", "")


def test_a_decision_that_was_taken_back_leads_to_the_item_again(client, ana):
    review = factory.park()

    sent = {"line": "shown"}
    page = client.get(address(review, "happened"), sent).content.decode()

    assert f'<a href="{address(review)}">Read and decide</a>' in page
