"""Forms are drawn once for all that look the same, and never older than what they say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.cache import caches
from django.urls import reverse

from agentops import clock
from reviews.models import Review
from runs.models import Agent, Driver, Run
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def ana(client):
    for kept in caches.all():
        kept.clear()
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def look(client) -> Callable[[Review], str]:
    def look(review: Review) -> str:
        page = client.get(reverse("reviews:detail", args=[review.pk]))
        return str(page.content.decode())

    return look


def test_it_did_not_happen_is_offered_as_soon_as_who_began_it_is_dead(look):
    run = factory.make_run()
    call = factory.make_call(run)
    review = factory.park(run, ParkReason.OUTCOME_UNKNOWN, call=call)
    now = clock.now()
    driver = Driver.objects.create(
        owner="d1", host="elsewhere", slot=1, pid=1, started_at=now, beat_at=now
    )
    factory.start_effect(run, call, "d1")
    alive = look(review)

    Driver.objects.filter(pk=driver.pk).update(ended_at=now)

    assert "It did not happen: do it now" not in alive
    assert "It did not happen: do it now" in look(review)


def test_a_budget_is_shown_as_it_is_used_by_now(look):
    review = factory.park(reason=ParkReason.BUDGET, has_call=False)
    look(review)

    Run.objects.filter(pk=review.run_id).update(tokens=150_123)

    assert "150,123" in look(review)


def test_an_agent_is_called_by_its_name_of_now(look):
    review = factory.park()
    look(review)

    Agent.objects.update(name="Renamed agent")

    assert "every run of Renamed agent" in look(review)


def test_what_differs_between_two_items_is_each_ones_own(look):
    first, second = factory.park(), factory.park()
    proposal = second.proposal | {
        "arguments": {"to": "board@example.com", "body": "Different words."}
    }
    Review.objects.filter(pk=second.pk).update(proposal=proposal)
    look(first)

    assert "Different words." in look(second)
    assert "Different words." not in look(first)
