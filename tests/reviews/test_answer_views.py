"""Submitters answer what their agent asks, where its policy lets them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews import claims
from reviews.models import Decision
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db

ASK = {"question": "Which <b>quarter</b>?", "options": ["Q2", "Q3"]}


@pytest.fixture
def sam():
    return factory.make_user("sam", "submitters")


@pytest.fixture
def asks(sam):
    """Call it for a run of sam's that waits with a question."""

    def ask(reason=ParkReason.QUESTION, *, may=True):
        grants = {"ask_human": {"policy": "auto"}}
        agent = factory.make_agent(submitter_answers=may, grants=grants)
        run = factory.make_run(agent, by=sam)
        call = factory.make_call(
            run, ASK, tool="ask_human", effect="read", title="Which quarter?"
        )
        return factory.park(run, reason, call=call)

    return ask


@pytest.fixture
def as_sam(client, sam):
    client.force_login(sam)
    return client


def page_of(review):
    return reverse("runs:detail", args=[review.run_id])


def address(review):
    return reverse("reviews:answer", args=[review.pk])


def answer(client, review, **sent):
    given = {"item_version": review.version, "digest": review.digest, **sent}
    return client.post(address(review), given)


def test_the_run_page_shows_the_question_and_takes_the_answer(as_sam, asks):
    review = asks()

    shown = as_sam.get(page_of(review)).content.decode()
    answered = answer(as_sam, review, choice="Q3")

    assert "Which &lt;b&gt;quarter&lt;/b&gt;?" in shown
    assert "Q2" in shown
    assert answered["location"] == page_of(review)
    decision = Decision.objects.get()
    assert (decision.kind, decision.note, decision.actor.username) == (
        "answer",
        "Q3",
        "sam",
    )


def test_without_the_policy_others_answer(as_sam, asks):
    review = asks(may=False)

    shown = as_sam.get(page_of(review)).content.decode()

    assert address(review) not in shown
    assert answer(as_sam, review, choice="Q3").status_code == 403
    assert not Decision.objects.exists()


def test_only_questions_are_theirs(as_sam, asks):
    review = asks(ParkReason.ALWAYS_ASK)

    assert answer(as_sam, review, text="Yes.").status_code == 403


def test_nobody_else_may_answer_here(client, asks):
    review = asks()
    client.force_login(factory.make_user("tom", "submitters"))

    assert client.get(address(review)).status_code == 404
    assert answer(client, review, choice="Q3").status_code == 404


def test_the_submitter_decides_nothing_else(as_sam, asks):
    review = asks()
    abort = reverse("reviews:decide", args=[review.pk, "abort"])

    denied = as_sam.post(abort, {"item_version": review.version, "text": "No."})

    assert denied.status_code in {403, 404}
    assert not Decision.objects.exists()


def test_no_answer_is_told_and_nothing_is_decided(as_sam, asks):
    review = asks()

    told = answer(as_sam, review, text=" ")

    assert told.status_code == 422
    assert "Choose an answer or write one." in told.content.decode()
    assert not Decision.objects.exists()


def test_a_second_answer_is_told_of_the_first(as_sam, asks):
    review = asks()
    answer(as_sam, review, choice="Q3")

    told = answer(as_sam, review, text="Q2, I think")

    assert told.status_code == 409
    assert "Q2, I think" in told.content.decode()
    assert Decision.objects.count() == 1


def test_who_works_on_it_goes_first(as_sam, asks):
    review = asks()
    claims.claim(review.pk, by=factory.make_user("ana", "operators"))

    told = answer(as_sam, review, choice="Q3")

    assert told.status_code == 409
    assert "ana is working on this" in told.content.decode()


def test_an_answered_question_leads_to_the_run(as_sam, asks):
    review = asks()
    answer(as_sam, review, choice="Q3")

    assert as_sam.get(address(review))["location"] == page_of(review)


def test_an_operator_still_answers_in_the_inbox(client, asks):
    review = asks()
    client.force_login(factory.make_user("ana", "operators"))
    seen = {"item_version": review.version, "digest": review.digest}
    here = reverse("reviews:decide", args=[review.pk, "answer"])

    answered = client.post(here, {**seen, "choice": "Q2"})

    assert answered.status_code == 302
    assert Decision.objects.get().note == "Q2"


@pytest.mark.parametrize("version", ["9" * 5000, "-1", "\u0663" * 12, "\x00", ""])
def test_a_version_that_is_no_number_is_another_than_the_one_shown(
    as_sam, asks, version
):
    sent = answer(as_sam, asks(), item_version=version, choice="Q3")

    assert sent.status_code == 409
    assert not Decision.objects.exists()
