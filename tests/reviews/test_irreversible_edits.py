"""An edit may turn what can be undone into what cannot: then it is asked once more."""

from __future__ import annotations

import pytest
from django.urls import reverse

from reviews.models import Decision
from reviews.services import decide
from runs import policy
from runs.errors import BadInput
from runs.tools import registry
from tests.support import factory, lookalikes

pytestmark = pytest.mark.django_db

READS = {"method": "GET", "path": "/prices"}
WRITES = READS | {"method": "PUT"}
WARNING = "As edited, this cannot be undone"


@pytest.fixture(autouse=True)
def shop():
    policy.forget()
    with registry.added(lookalikes.SHOP):
        yield
    policy.forget()


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def parked(arguments):
    grants = {"ask_shop": {"policy": "ask_below"}}
    return lookalikes.parked(
        lookalikes.SHOP, arguments, factory.make_agent(grants=grants)
    )


def edit(review, by, arguments, **more):
    return decide(
        review.pk,
        by=by,
        kind="edit",
        item_version=review.version,
        digest=review.digest,
        payload={"arguments": arguments} | more,
    )


def test_it_is_refused_until_the_person_says_that_they_know(ana):
    review = parked(READS)

    with pytest.raises(BadInput, match=WARNING):
        edit(review, ana, WRITES)

    assert not Decision.objects.exists()
    assert edit(review, ana, WRITES, sure=True).payload["arguments"] == WRITES


@pytest.mark.parametrize(
    ("proposed", "edited"),
    [(READS, READS | {"path": "/"}), (WRITES, READS), (WRITES, WRITES | {"path": "/"})],
)
def test_what_could_not_be_undone_before_or_still_can_is_not_asked(
    ana, proposed, edited
):
    review = parked(proposed)

    assert edit(review, ana, edited).kind == "edit"


def test_the_form_comes_back_with_the_warning_and_a_box_to_tick(client, ana):
    review = parked(READS)
    client.force_login(ana)
    address = reverse("reviews:decide", args=[review.pk, "edit"])
    sent = {
        "item_version": review.version,
        "digest": review.digest,
        "arguments.method": "PUT",
        "arguments.path": "/prices",
    }

    refused = client.post(address, sent)
    taken = client.post(address, sent | {"sure": "on"})

    page = refused.content.decode()
    assert refused.status_code == 422
    assert WARNING in page
    assert 'name="sure"' in page
    assert taken.status_code == 302


def test_the_box_is_not_there_before_it_is_needed(client, ana):
    client.force_login(ana)

    page = client.get(reverse("reviews:detail", args=[parked(READS).pk]))

    assert 'name="sure"' not in page.content.decode()
