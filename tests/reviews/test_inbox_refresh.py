"""How a shown list stays true: rows in their place, news counted, few queries."""

from __future__ import annotations

import pytest
from django.urls import reverse

from agentops import clock
from reviews import inbox
from reviews.models import Review
from runs.states import ParkReason
from tests.support import factory
from tests.support.inbox import close, look, refresh

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def short_pages(monkeypatch):
    monkeypatch.setattr(inbox, "ROWS", 2)


def test_nothing_is_sent_while_nothing_has_changed(client, operator):
    factory.park()

    answer = refresh(client, look(client))

    assert answer.status_code == 204
    assert answer.content == b""


def test_a_refresh_greys_out_what_was_decided_and_counts_the_new(client, operator):
    old = factory.park()
    page = look(client)
    close(old, text="No")
    factory.park()

    answer = refresh(client, page)

    html = answer.content.decode()
    assert "item-done" in html
    assert "Rejected by person" in html
    assert "1 new, show it" in html
    assert [row.review for row in answer.context["rows"]] == [old]
    assert refresh(client, answer).status_code == 204


def test_counts_come_with_the_rows(client, operator):
    factory.park()
    page = look(client)
    factory.park(reason=ParkReason.BUDGET, has_call=False)

    html = refresh(client, page).content.decode()

    assert '<span id="count-open" hx-swap-oob="true">2</span>' in html
    assert '<span id="count-budget" hx-swap-oob="true">1</span>' in html
    assert 'data-count="2"' in html


def test_a_row_that_leaves_its_view_stays_where_it_is_shown(client, operator):
    review = factory.park()
    page = look(client, "view=unclaimed")
    Review.objects.update(holder=operator, holder_until=clock.later(60))

    answer = refresh(client, page)

    assert [row.review for row in answer.context["rows"]] == [review]
    assert "You hold it" in answer.content.decode()


def test_what_comes_into_a_view_is_news_there(client, operator):
    first, second = factory.park(), factory.park()
    Review.objects.filter(pk=first.pk).update(
        holder=operator, holder_until=clock.later(60)
    )
    page = look(client, "view=mine")
    Review.objects.filter(pk=second.pk).update(
        holder=operator, holder_until=clock.later(60)
    )

    assert refresh(client, page).context["news"] == 1


def test_what_belongs_on_a_later_page_is_no_news(client, operator, short_pages):
    for _ in range(3):
        factory.park()
    page = look(client)
    factory.park()

    answer = refresh(client, page)

    assert answer.context["news"] == 0
    assert answer.context["navigation"].waiting == 4


def test_an_empty_list_fills_by_itself(client, operator):
    page = look(client)
    review = factory.park()

    answer = refresh(client, page)

    assert [row.review for row in answer.context["rows"]] == [review]
    assert answer.context["news"] == 0


def test_a_refresh_of_nonsense_is_a_refresh_of_nothing(client, operator):
    factory.park()
    page = look(client)

    answer = refresh(client, page, id=["nonsense", ""], until="x", view="y", mark="")

    assert len(answer.context["rows"]) == 1


# Queries


def test_the_list_takes_few_queries_however_long_it_is(
    client, operator, django_assert_max_num_queries
):
    for _ in range(5):
        factory.park()
    close(factory.park(), text="No")
    page = look(client)
    sent = {"id": [str(row.review.pk) for row in page.context["rows"]]}

    with django_assert_max_num_queries(10):
        look(client, "q=analytics&older=1h", "list")
    with django_assert_max_num_queries(10):
        client.post(reverse("reviews:rows"), sent)


def test_page_and_pane_take_few_queries(
    client, operator, django_assert_max_num_queries
):
    reviews = [factory.park() for _ in range(5)]
    look(client)

    with django_assert_max_num_queries(15):
        look(client)
    with django_assert_max_num_queries(15):
        client.get(reverse("reviews:pane", args=[reviews[0].pk]))
