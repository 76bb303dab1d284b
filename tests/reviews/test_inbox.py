"""What is before and after an item: in a view, with filters, and once it is closed."""

from __future__ import annotations

import pytest

from agentops import clock
from reviews import inbox
from reviews.filters import Filters
from reviews.models import Review
from runs.states import ParkReason
from tests.support import factory
from tests.support.inbox import close

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def test_an_item_has_a_place_between_its_neighbours(ana, django_assert_num_queries):
    first, here, last = factory.park(), factory.park(), factory.park()
    factory.ask_rights_of(ana)

    with django_assert_num_queries(3):
        near = inbox.neighbours(ana, here)

    assert near["previous"] == {"pk": first.pk, "title": first.title}
    assert near["next"] == {"pk": last.pk, "title": last.title}
    assert (near["place"], near["total"]) == (2, 3)


def test_the_only_item_has_no_neighbours(ana):
    near = inbox.neighbours(ana, factory.park())

    assert near == {"place": 1, "total": 1, "previous": None, "next": None}


def test_items_of_the_same_rank_keep_one_order(ana):
    made = [factory.park() for _ in range(3)]
    Review.objects.update(rank_at=clock.now())
    for review in made:
        review.refresh_from_db()

    near = {review.pk: inbox.neighbours(ana, review) for review in made}

    assert sorted(one["place"] for one in near.values()) == [1, 2, 3]
    following = [one["next"]["pk"] for one in near.values() if one["next"]]
    assert len(set(following)) == 2


def test_after_a_closed_item_comes_what_followed_it_and_then_the_top(ana):
    first, here, last = factory.park(), factory.park(), factory.park()
    close(here, text="No")
    here.refresh_from_db()

    assert inbox.neighbours(ana, here)["next"]["pk"] == last.pk
    close(last, text="No")
    assert inbox.neighbours(ana, here)["next"]["pk"] == first.pk
    close(first, text="No")
    assert inbox.neighbours(ana, here) == {"next": None, "total": 0}


def test_neighbours_are_those_of_the_view_and_its_filters(ana):
    here = factory.park()
    factory.park(reason=ParkReason.BUDGET, has_call=False)
    like = factory.park()

    near = inbox.neighbours(ana, here, Filters(view="unsure", tool="post_letter"))

    assert near["next"]["pk"] == like.pk
    assert near["total"] == 2
