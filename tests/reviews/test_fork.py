"""A parked run that is done again from an earlier step: one ends, another begins."""

from __future__ import annotations

import pytest

from reviews import services
from reviews.decisions import registry
from runs.errors import BadInput
from runs.models import Run, Transition
from runs.tools import registry as tools
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def decide(review, by, **payload):
    return services.decide(
        review.pk,
        by=by,
        kind="fork",
        item_version=review.version,
        payload=payload,
    )


def test_the_parked_run_ends_and_says_what_goes_on(ana):
    review = factory.park()

    decision = decide(review, ana, step="2", text="The check was unlucky.")

    run = Run.objects.get(pk=review.run_id)
    fork = Run.objects.get(forked_from=run)
    assert (run.state, fork.state, fork.fork_step) == ("aborted", "executing", 2)
    last = Transition.objects.filter(run=run).last()
    assert last is not None
    assert last.reason == f"forked as run {str(fork.pk)[:8]} at step 2"
    assert decision.note == "From step 2. The check was unlucky."


def test_the_same_decision_again_forks_once(ana):
    review = factory.park()

    for _ in range(2):
        decide(review, ana, step="1")

    assert Run.objects.filter(forked_from=review.run_id).count() == 1


@pytest.mark.parametrize("step", ["", "3", "9", "x"])
def test_a_step_that_is_no_place_is_refused_and_nothing_happens(ana, step):
    review = factory.park()

    with pytest.raises(BadInput) as caught:
        decide(review, ana, step=step)

    assert set(caught.value.fields) == {"step"}
    assert Run.objects.get(pk=review.run_id).state == "awaiting_human"
    assert Run.objects.count() == 1


def test_the_steps_are_named_newest_first():
    page = str(registry.find("fork").form(factory.park())["step"])

    assert page.index("Step 2: Confidence check") < page.index("Step 1: Model")
