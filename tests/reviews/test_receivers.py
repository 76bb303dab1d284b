"""A run that parks opens one review; one that goes on without us cancels it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from agentops.conf import product
from reviews import receivers, services
from reviews.models import Notification, Review
from runs import queue
from runs.states import ParkReason, RunState
from tests.support import factory

pytestmark = pytest.mark.django_db


def test_a_parked_run_opens_one_review():
    review = factory.park()

    assert review.title == "Post to analytics@example.com"
    assert review.reason == ParkReason.LOW_CONFIDENCE
    assert review.proposal["arguments"] == factory.MAIL
    assert review.digest == review.proposal["digest"]
    assert review.sequence == review.run.sequence
    assert review.detail["figures"] == {"confidence": "0.62", "threshold": "0.8"}
    assert review.version == 1


def test_look_alikes_share_a_shape():
    first, second = factory.park(), factory.park()
    other = factory.park(reason=ParkReason.ALWAYS_ASK)

    assert len(first.shape) == 64
    assert first.shape == second.shape != other.shape


def test_it_is_due_in_four_hours():
    review = factory.park()

    assert review.due_at - review.opened_at < timedelta(hours=4, seconds=5)
    assert review.due_at - review.opened_at > timedelta(hours=4) - timedelta(seconds=5)


def test_a_high_risk_is_due_in_one_hour():
    review = factory.park(reason=ParkReason.OUTCOME_UNKNOWN)

    assert review.risk == "high"
    due_s = (review.due_at - review.opened_at).total_seconds()
    assert due_s == pytest.approx(product().review_due_high_risk_s, abs=5)


def test_opening_twice_gives_the_one_there_is():
    review = factory.park()

    with transaction.atomic():
        again = receivers.open_review(
            review.run, review.run.park or {}, review.opened_at
        )

    assert again == review
    assert Review.objects.count() == 1


def test_a_long_title_of_many_lines_fits():
    review = factory.park(title="one\ntwo " * 200)

    assert len(review.title) == 300
    assert "\n" not in review.title


def test_it_can_be_searched_by_task_arguments_and_error():
    review = factory.park(error={"class": "fatal", "text": "no such mailbox"})

    for words in ("Post the summary", "analytics@example.com", "no such mailbox"):
        assert words.lower() in review.search_text


def test_it_can_be_searched_by_guidance_of_before_and_of_now():
    run = factory.make_run(guidance=[{"text": "Never write to the board."}])
    first = factory.park(run)
    ana = factory.make_user("ana", "operators")
    services.decide(
        first.pk,
        by=ana,
        kind="guide",
        item_version=1,
        payload={"text": "Ask Ramona first."},
    )
    run.refresh_from_db()
    second = factory.park(run)
    first.refresh_from_db()

    assert "Never write to the board.".lower() in first.search_text
    assert "Ask Ramona first.".lower() in first.search_text
    assert "Ask Ramona first.".lower() in second.search_text


def test_it_has_a_rank_and_what_weighs_on_it():
    review = factory.park()

    window = review.due_at - review.opened_at
    assert review.stakes == [{"label": "The call cannot be undone", "points": 2}]
    assert review.rank_at == review.opened_at + window / 3


def test_n03_everyone_who_may_decide_is_told_once():
    factory.make_user("ana", "operators")
    factory.make_user("ben", "admins")
    factory.make_user("cem", "operators", email="ana@example.com")
    factory.make_user("dan", "operators", email="")
    factory.make_user("eve", "submitters")

    factory.park()

    told = told_now().values_list("address", flat=True)
    assert sorted(told) == ["ana@example.com", "ben@example.com"]


def test_the_delivery_is_enqueued_with_the_rows():
    factory.make_user("ana", "operators")
    before = queue.length()

    factory.park(reason=ParkReason.OUTCOME_UNKNOWN)

    assert queue.length() == before + 1


def test_only_the_agents_deciders_are_told():
    ana = factory.make_user("ana", "operators")
    factory.make_user("ben", "operators")
    agent = factory.make_agent()
    agent.deciders.set([_group_of(ana)])

    factory.park(factory.make_run(agent))

    assert [n.person for n in told_now()] == [ana]


def test_those_who_see_all_are_told_where_no_decider_may_decide():
    ana = factory.make_user("ana", "admins")
    factory.make_user("ben", "operators")
    agent = factory.make_agent()
    agent.deciders.set([_group_of(factory.make_user("idle", "submitters"))])

    factory.park(factory.make_run(agent))

    assert [n.person for n in told_now()] == [ana]


def test_the_submitter_is_told_only_if_they_may_decide():
    ana = factory.make_user("ana", "operators")
    agent = factory.make_agent()

    factory.park(factory.make_run(agent, by=ana))
    assert told_now().count() == 0

    agent.allow_self_decision = True
    agent.save()
    factory.park(factory.make_run(agent, by=ana))
    assert told_now().count() == 1


@pytest.mark.parametrize("to", [RunState.ABORTED, RunState.EXECUTING])
def test_a_run_that_leaves_undecided_cancels_its_review(to):
    review = factory.park()

    factory.change_state(review.run, to)

    review.refresh_from_db()
    assert review.status == "cancelled"
    assert review.closed_at is not None
    assert review.version == 2


def test_a_run_can_park_again():
    first = factory.park()
    factory.change_state(first.run, RunState.EXECUTING)

    second = factory.park(first.run)

    assert second != first
    assert Review.objects.open().get() == second


def test_what_a_receiver_writes_is_rolled_back_with_the_run():
    run = factory.make_run()

    with transaction.atomic():
        factory.park(run)
        transaction.set_rollback(True)

    assert Review.objects.count() == 0
    assert Notification.objects.count() == 0


def told_now():
    """The rows that tell of a new item."""
    return Notification.objects.filter(event="opened")


def _group_of(user):
    from django.contrib.auth.models import Group

    group = Group.objects.create(name=f"deciders of {user}")
    user.groups.add(group)
    return group
