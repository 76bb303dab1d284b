"""Nothing can be approved that was not shown whole, on the page or beside the list."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from reviews.models import Decision, Review
from runs.models import Tool
from tests.reviews.story import MAIL, page_of, the_story
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


LONG = MAIL | {"body": "\n".join(f"Line {n} of a long letter." for n in range(90))}


@pytest.mark.parametrize(
    ("arguments", "is_long"),
    [
        (MAIL, False),
        (LONG, True),
        (MAIL | {"body": "x" * 1500}, True),
        (MAIL | {"body": "\n" * 40}, True),
        (MAIL | {"to": [f"p{n}@company.com" for n in range(80)]}, True),
    ],
)
def test_only_what_is_shown_whole_beside_the_list_is_approved_there(
    client, operator, arguments, is_long
):
    review = the_story(arguments)

    pane = page_of(client, review, "pane")

    assert ("Read and decide" in pane) == is_long
    assert ("decide/approve/" in pane) != is_long
    assert ("decide/edit/" in pane) != is_long
    assert (review.digest in pane) != is_long
    assert "decide/reject/" in pane
    assert "decide/abort/" in pane


def test_the_page_shows_it_all_and_lets_it_be_approved(client, operator):
    words = " ".join(f"word{n}" for n in range(30_000))
    review = the_story(MAIL | {"body": words, "summary": words})

    page = page_of(client, review)

    assert "decide/approve/" in page
    assert review.digest in page
    assert re.sub(r"<[^>]*>", "", page).count("word29999") >= 2


def post(client: Any, review: Review, kind: str, **sent: Any) -> Any:
    address = reverse("reviews:decide", args=[review.pk, kind])
    return client.post(address, {"item_version": review.version} | sent)


def test_what_was_not_shown_whole_cannot_be_approved(client, operator):
    review = the_story(LONG)

    assert post(client, review, "approve").status_code == 409
    assert post(client, review, "edit").status_code == 409
    assert not Decision.objects.exists()


def test_it_can_always_be_turned_down(client, operator):
    review = the_story(LONG)

    answer = post(client, review, "reject", text="Too long.", digest="")

    assert answer.status_code == 302
    assert Decision.objects.get().kind == "reject"


def test_a_form_that_comes_back_has_the_whole_call_with_it(client, operator):
    review = the_story(LONG)
    wrong = {"arguments.copies": "x", "digest": review.digest}

    answer = post(client, review, "edit", **wrong)

    assert answer.status_code == 422
    page = answer.content.decode()
    assert page.count("of a long letter.") >= 2 * 90  # in the form, and as it is shown
    assert "What will happen" in page


def test_costs_so_far_and_the_time_to_undo_are_told(client, operator):
    Tool.objects.create(name="post_letter", undo_s=12)

    page = page_of(client, the_story())

    assert "undo for 12 s" in page
    assert "so far" in page.split('id="what"')[1]
    assert "Cannot be undone" in page
    assert "at most once" in page
