"""The list one came from goes along: to the item, to the next one, and back."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews.filters import Filters
from reviews.models import Review
from runs.states import ParkReason
from tests.support import factory
from tests.support.inbox import close

pytestmark = pytest.mark.django_db

LIST = "view=unsure&tool=post_letter"


@pytest.fixture(autouse=True)
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def three() -> list[Review]:
    """Of the list are the first and the last; the one between waits elsewhere."""
    first = factory.park()
    factory.park(reason=ParkReason.BUDGET, has_call=False)
    return [first, factory.park()]


def at(review: Review, name: str = "detail", *more: str) -> str:
    return f"{reverse(f'reviews:{name}', args=[review.pk, *more])}?{LIST}"


def page(client, address: str) -> str:
    return client.get(address).content.decode().replace("&amp;", "&")


def test_the_rows_and_the_item_beside_them_lead_into_the_list(client, three):
    inbox = page(client, f"{reverse('reviews:inbox')}?{LIST}")
    beside = page(client, at(three[0], "pane"))

    assert f'href="{at(three[1])}"' in inbox
    assert f'data-pane="{at(three[1], "pane")}"' in inbox
    assert f'hx-get="{at(three[0], "pane")}"' in inbox
    assert f'action="{at(three[0], "decide", "approve")}"' in beside
    assert f'<a class="btn" href="{at(three[0])}" data-go="open"' in beside


def test_next_and_back_stay_in_the_list_one_came_from(client, three):
    shown = page(client, at(three[0]))

    assert f'<a href="{at(three[1])}" data-go="next"' in shown
    back = f"{reverse('reviews:inbox')}?item={three[0].pk}&{LIST}"
    assert f'<a href="{back}" data-go="back"' in shown
    assert "Low confidence</a>" in shown
    assert "1 of 2" in shown


def test_a_decision_leads_on_in_the_same_list(client, three):
    sent = {"item_version": three[0].version, "text": "Not now."}

    answer = client.post(at(three[0], "decide", "reject"), sent)

    assert answer.url == at(three[0])
    assert f'href="{at(three[1])}" data-go="next"' in page(client, answer.url)


def test_what_was_refused_stays_in_the_list_too(client, three):
    address = at(three[0], "decide", "reject")

    unsaid = client.post(address, {"item_version": three[0].version, "text": ""})
    stale = client.post(address, {"item_version": 99, "text": "Not now."})

    for answer, status in ((unsaid, 422), (stale, 409)):
        assert answer.status_code == status
        assert at(three[0]) in answer.content.decode().replace("&amp;", "&")


def test_a_list_of_what_is_closed_leads_on_to_what_is_open(client, three):
    close(three[0], text="No")

    address = f"{reverse('reviews:detail', args=[three[0].pk])}?view=decided"
    shown = page(client, address)

    onward = reverse("reviews:detail", args=[shown_next(shown)])
    assert f'href="{onward}" data-go="next"' in shown
    assert f"{reverse('reviews:inbox')}?item={three[0].pk}&view=decided" in shown


def shown_next(shown: str) -> str:
    """The item that the bar offers: whichever of the open ones follows."""
    pks = [str(pk) for pk in Review.objects.open().values_list("pk", flat=True)]
    return next(pk for pk in pks if f'/{pk}/" data-go="next"' in shown)


def test_an_address_says_only_what_differs_from_the_usual_list():
    assert Filters().tail == ""
    assert Filters(view="mine", q="a&b").tail == "?view=mine&q=a%26b"
    assert Filters(view="expired").onward == Filters()
