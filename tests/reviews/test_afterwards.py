"""Looking back at what went ahead by itself: listed, judged, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.template import Context

from agentops import clock
from reviews import afterwards, services
from reviews.models import Review
from reviews.templatetags.inbox import waiting_for
from runs.errors import BadInput
from runs.models import Step
from runs.states import RunState, StepKind
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def judged(review, by, kind, **payload):
    return services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        payload=payload,
    )


def test_what_went_ahead_unsure_is_listed_to_be_judged():
    run = factory.let_through("0.8")

    afterwards.open_reviews()

    review = Review.objects.to_judge().get()
    assert (review.run, review.step_number, review.tool) == (run, 1, "post_letter")
    assert review.title == "Post to analytics@example.com"
    assert "80 %" in review.question


def test_it_is_listed_once():
    factory.let_through("0.8")

    afterwards.open_reviews()
    again = afterwards.open_reviews()

    assert again == {"opened": 0}
    assert Review.objects.count() == 1


@pytest.mark.parametrize(
    ("confidence", "own", "is_listed"),
    [
        ("0.84", None, True),
        ("0.85", None, False),
        ("0.84", "0.5", False),
        ("0.95", "0.99", True),
        ("0.1", "0", False),
    ],
)
def test_the_agents_number_says_what_is_unsure(confidence, own, is_listed):
    factory.let_through(confidence, agent=factory.make_agent(afterwards_below=own))

    afterwards.open_reviews()

    assert Review.objects.exists() == is_listed


def test_what_the_check_stopped_is_not_listed_again():
    review = factory.park()
    Step.objects.filter(run=review.run, kind="check").update(
        confidence=Decimal("0.62"), response=factory.SAID
    )

    afterwards.open_reviews()

    assert list(Review.objects.all()) == [review]


def test_a_check_of_this_moment_waits_for_what_comes_of_it():
    run = factory.make_run()
    sure = Decimal("0.8")
    factory.add_step(run, StepKind.CHECK, confidence=sure, response=factory.SAID)

    afterwards.open_reviews()

    assert not Review.objects.exists()


def test_a_check_that_a_fork_has_from_its_original_is_listed_there_alone():
    run = factory.let_through("0.8")
    fork = factory.make_run(run.agent, forked_from=run, root=run, fork_step=2)
    said = {"response": factory.SAID, "confidence": Decimal("0.8")}
    factory.add_step(fork, StepKind.CHECK, **said)
    factory.add_step(fork, StepKind.CHECK, **said)
    factory.add_step(fork, StepKind.TOOL)

    afterwards.open_reviews()

    found = Review.objects.order_by("step_number").values_list("run", "step_number")
    assert list(found) == [(run.pk, 1), (fork.pk, 2)]


def test_an_old_check_is_let_go():
    run = factory.let_through("0.8")
    run.steps.update(planned_at=clock.now() - timedelta(hours=2))

    afterwards.open_reviews()

    assert not Review.objects.exists()


def test_nothing_waits_for_a_judgement(ana):
    factory.let_through("0.8")

    afterwards.open_reviews()

    assert waiting_for(Context(), ana) == 0


@pytest.mark.parametrize("kind", ["good", "bad"])
def test_a_judgement_leaves_the_run_alone(ana, kind):
    run = factory.let_through("0.8")
    afterwards.open_reviews()
    before = factory.Run.objects.values().get(pk=run.pk)

    decision = judged(Review.objects.get(), ana, kind, text="As it should be.")

    assert (decision.kind, decision.note) == (kind, "As it should be.")
    assert factory.Run.objects.values().get(pk=run.pk) == before
    assert not Review.objects.to_judge().exists()


def test_other_decisions_are_not_offered_afterwards_nor_judgements_before(ana):
    parked = factory.park()
    factory.let_through("0.8")
    afterwards.open_reviews()

    for review, kind in [
        (Review.objects.to_judge().get(), "approve"),
        (parked, "good"),
    ]:
        with pytest.raises(BadInput):
            judged(review, ana, kind, text="No.", digest=review.digest)


def test_a_run_that_parks_and_goes_on_keeps_what_is_to_be_judged():
    run = factory.let_through("0.8")
    afterwards.open_reviews()
    factory.park(run)

    factory.change_state(run, RunState.ABORTED)

    assert Review.objects.to_judge().count() == 1


def test_bad_needs_a_reason(ana):
    factory.let_through("0.8")
    afterwards.open_reviews()

    with pytest.raises(BadInput):
        judged(Review.objects.get(), ana, "bad", text=" ")
