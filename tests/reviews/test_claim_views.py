"""Holding over HTTP: with script and without, and what each person's page says."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from reviews import claims
from reviews.models import Review
from tests.support import factory

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def ben():
    return factory.make_user("ben", "operators")


@pytest.fixture
def review():
    return factory.park()


def signed_in(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


def post(client, review, **fields):
    """As a button of a page with script does."""
    address = reverse("reviews:hold", args=[review.pk])
    return client.post(address, fields, headers=HTMX)


def ask(client, review, shown="", lost=""):
    """As the page asks every few seconds."""
    address = reverse("reviews:live", args=[review.pk])
    return client.get(address, {"shown": shown, "lost": lost}, headers=HTMX)


def kept(answer) -> dict[str, str]:
    """What the page brings along with its next question."""
    found = re.findall(r'name="(shown|lost)" value="([^"]*)"', answer.content.decode())
    return dict(found)


def test_without_script_a_claim_comes_back_to_the_page(review, ana):
    address = reverse("reviews:hold", args=[review.pk])

    answer = signed_in(ana).post(address, {"act": "claim"})

    assert answer["Location"] == reverse("reviews:detail", args=[review.pk])
    assert Review.objects.get().holder == ana


def test_with_script_only_the_part_that_says_it_comes_back(review, ana):
    answer = post(signed_in(ana), review, act="claim")

    assert b"You hold this" in answer.content
    assert b"<html" not in answer.content


def test_the_page_of_another_person_learns_who_holds_it(review, ana, ben):
    client = signed_in(ben)
    assert ask(client, review).status_code == 204
    claims.claim(review.pk, by=ana)

    answer = ask(client, review)

    assert b"ana holds this" in answer.content
    assert ask(client, review, **kept(answer)).status_code == 204


def test_who_comes_second_is_shown_who_was_first(review, ana, ben):
    claims.claim(review.pk, by=ana)

    answer = post(signed_in(ben), review, act="claim")

    assert answer.status_code == 200
    assert b"ana holds this" in answer.content
    assert Review.objects.get().holder == ana


def test_who_lost_the_item_is_told_by_whom_and_why_and_goes_on_being_told(
    review, ana, ben
):
    client = signed_in(ana)
    before = kept(post(client, review, act="claim"))
    post(signed_in(ben), review, act="take_over", reason="Ana is <out>")

    told = ask(client, review, **before)
    claims.keep(review.pk, by=ben)
    later = ask(client, review, **kept(told))

    for answer in (told, later):
        page = answer.content.decode()
        assert "ben took this over from you" in page
        assert "Ana is &lt;out&gt;" in page


def test_who_only_looked_on_is_not_told_of_a_loss(review, ana, ben):
    claims.claim(review.pk, by=ana)
    client = signed_in(factory.make_user("cy", "operators"))
    before = kept(ask(client, review))

    claims.take_over(review.pk, by=ben, reason="Ana is out")

    assert b"from you" not in ask(client, review, **before).content


def test_a_hold_that_ran_out_is_not_called_taken(review, ana, ben, advance_clock):
    client = signed_in(ana)
    before = kept(post(client, review, act="claim"))
    advance_clock(601)
    claims.claim(review.pk, by=ben)

    answer = ask(client, review, **before)

    assert b"Your hold ran out, and ben holds this now" in answer.content
    assert b"took this over" not in answer.content


def test_another_items_note_is_not_shown_for_a_made_up_number(review, ana, ben):
    other = factory.park()
    claims.claim(other.pk, by=ana)
    claims.take_over(other.pk, by=ben, reason="a secret")
    claims.claim(review.pk, by=ben)
    number = str(other.notes.get().pk)

    assert b"a secret" not in ask(signed_in(ana), review, lost=number).content


def test_leaving_answers_nothing_and_frees_the_item(review, ana, ben):
    client = signed_in(ana)
    until = post(client, review, act="claim").content.decode()
    until = re.findall(r'data-until="([^"]+)"', until)[0]
    address = reverse("reviews:hold", args=[review.pk])

    answer = client.post(address, {"act": "leave", "until": until})

    assert answer.status_code == 204
    assert claims.claim(review.pk, by=ben).holder == ben


def test_taking_over_without_a_reason_is_refused(review, ana, ben):
    claims.claim(review.pk, by=ana)

    answer = post(signed_in(ben), review, act="take_over", reason=" ")

    assert answer.status_code == 422
    assert Review.objects.get().holder == ana


def test_who_may_not_decide_sees_the_holder_and_no_way_to_take_it(review, ana):
    claims.claim(review.pk, by=ana)
    asked = factory.make_user("asked", "operators")
    review.run.submitter = asked
    review.run.save()

    page = signed_in(asked).get(reverse("reviews:detail", args=[review.pk])).content

    assert b"ana holds this" in page
    assert b"take-over" not in page
    assert post(signed_in(asked), review, act="claim").status_code == 403
