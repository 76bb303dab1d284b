"""A page that stays open asks whether what it shows still holds, and gets only that."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentops import clock
from reviews import claims, glance, notes
from reviews.models import Review
from tests.support import factory

pytestmark = pytest.mark.django_db

PARTS = ("changed", "held", "notes-list")


@pytest.fixture
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def review() -> Review:
    return factory.park()


def page(client, review) -> str:
    return client.get(reverse("reviews:detail", args=[review.pk])).content.decode()


def fields(markup: str) -> dict[str, str]:
    """What a page sends back of what it showed."""
    found = re.findall(
        r'name="(state|shown|lost|newest)" value="([^"]*)"',
        markup.replace("&amp;", "&"),
    )
    return dict(found)


def ask(client, review, sent):
    return client.get(reverse("reviews:live", args=[review.pk]), sent)


def parts(answer) -> list[str]:
    text = answer.content.decode()
    return [part for part in PARTS if f'id="{part}"' in text]


def close(review) -> None:
    Review.objects.update(status="cancelled", closed_at=review.opened_at)


def test_a_page_that_is_as_it_was_hears_nothing(client, ana, review):
    notes.add(review, by=ana, text="One")
    claims.claim(review.pk, by=ana)
    shown = fields(page(client, review))

    assert set(shown) == {"state", "shown", "lost", "newest"}
    assert ask(client, review, shown).status_code == 204


@pytest.mark.parametrize("part", PARTS)
def test_only_what_has_changed_comes_and_then_it_is_known(client, ana, review, part):
    ben = factory.make_user("ben", "operators")
    shown = fields(page(client, review))
    change = {
        "changed": lambda: Review.objects.update(version=7),
        "held": lambda: claims.claim(review.pk, by=ben),
        "notes-list": lambda: notes.add(review, by=ben, text="Two"),
    }
    change[part]()

    answer = ask(client, review, shown)
    again = ask(client, review, shown | fields(answer.content.decode()))

    assert parts(answer) == [part]
    assert again.status_code == 204


def test_a_closed_item_is_told_with_nobody_holding_it(client, ana, review):
    shown = fields(page(client, review))
    claims.claim(review.pk, by=factory.make_user("ben", "operators"))
    close(review)

    answer = ask(client, review, shown)

    assert parts(answer) == ["changed"]
    assert ask(client, review, {"shown": shown["shown"]}).status_code == 286


def test_notes_go_on_coming_to_the_page_of_a_closed_item(client, ana, review):
    close(review)
    shown = fields(page(client, review))
    before = ask(client, review, shown)
    notes.add(review, by=ana, text="For the record")

    after = ask(client, review, shown)

    assert set(shown) == {"newest"}
    assert before.status_code == 204
    assert parts(after) == ["notes-list"]


def test_a_decision_that_was_taken_back_is_told_too(client, ana, review):
    shown = fields(page(client, review))
    close(review)
    shown |= fields(ask(client, review, shown).content.decode())
    Review.objects.update(status="open", closed_at=None, version=9)

    assert parts(ask(client, review, shown)) == ["changed"]


@pytest.mark.parametrize("sent", [{}, {"newest": "x"}, {"shown": "@", "lost": "\x00"}])
def test_odd_questions_are_answered(client, ana, review, sent):
    assert ask(client, review, sent).status_code in {200, 204}


def test_the_answer_that_nothing_changed_takes_one_query_of_the_item(ana, review):
    shown = glance.Shown(glance.state_of(review), None, "0")
    ana.has_perm("reviews.decide_review")

    with CaptureQueriesContext(connection) as captured:
        changes = glance.look(ana, review.pk, shown, clock.now())

    assert not changes
    assert len(captured) == 1
