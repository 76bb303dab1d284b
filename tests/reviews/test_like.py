"""Like cases: the same tool, the same reason, decided; what, by whom, how sure."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group

from agentops import clock
from reviews import like, services
from reviews.models import Review
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def decided(by, kind: str = "approve", review: Review | None = None):
    review = review or factory.park()
    words: dict[str, Any] = (
        {"note": "Fine."} if kind == "approve" else {"text": "Wrong."}
    )
    services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload=words,
    )
    return review


def test_the_same_tool_and_reason_are_alike_whatever_the_agent(ana):
    decided(ana)
    decided(ana, "reject")
    decided(ana, review=factory.park(reason=ParkReason.ALWAYS_ASK))
    of_another_tool = decided(ana)
    Review.objects.filter(pk=of_another_tool.pk).update(tool="send_email")
    other = factory.park(has_call=False, reason=ParkReason.QUESTION)

    found = like.cases(factory.park(), ana)

    assert [(case.words, case.confidence) for case in found] == [
        ("Rejected", "62 %"),
        ("Approved", "62 %"),
    ]
    assert found[0].decision.actor == ana
    assert like.in_favour(found, factory.park()) == "1 of 2 approved"
    assert like.cases(other, ana) == []
    assert like.in_favour([], other) == ""


def test_the_newest_five_are_shown(ana):
    reviews = [decided(ana) for _ in range(6)]
    for place, review in enumerate(reviews):
        at = clock.now() - timedelta(days=place)
        Review.objects.filter(pk=review.pk).update(closed_at=at)

    found = like.cases(factory.park(), ana)

    assert [case.decision.review_id for case in found] == [
        review.pk for review in reviews[:5]
    ]


def test_a_case_is_not_like_itself_and_what_was_undone_is_none(ana):
    mine = decided(ana)
    undone = decided(ana)
    undone.decisions.update(undone_at=clock.now())

    assert like.cases(mine, ana) == []


def test_cases_one_may_not_see_are_left_out(ana):
    agent = factory.make_agent()
    agent.deciders.add(Group.objects.create(name="others"))
    ben = factory.make_user("ben", "operators")
    ben.groups.add(agent.deciders.get())
    decided(ben, review=factory.park(factory.make_run(agent)))

    assert like.cases(factory.park(), ana) == []
    assert len(like.cases(factory.park(), ben)) == 1
    assert len(like.cases(factory.park(), factory.make_user("", "admins"))) == 1


def test_it_is_one_query(ana, django_assert_num_queries):
    decided(ana)
    review = factory.park()
    factory.ask_rights_of(ana)

    with django_assert_num_queries(1):
        like.cases(review, ana)
