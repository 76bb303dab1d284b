"""Drafts: what was typed is there again, for its writer alone, until they decide."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from reviews import claims, drafts, services
from reviews.models import Draft, Review
from runs.errors import BadInput
from tests.support import factory

pytestmark = pytest.mark.django_db

SUBJECT = "arguments.subject"


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def ben():
    return factory.make_user("ben", "operators")


@pytest.fixture
def review():
    return factory.park()


@pytest.fixture
def page(client, ana, review):
    """Call it for the page as Ana sees it."""
    client.force_login(ana)
    return lambda: client.get(reverse("reviews:detail", args=[review.pk]))


def form_of(page, name):
    return next(s.form for s in page.context["sheets"] if s.name == name)


def address(review, form="edit"):
    return reverse("reviews:draft", args=[review.pk, form])


def typed(review, **fields):
    """What a browser sends along with the fields themselves."""
    seen = {"item_version": str(review.version), "digest": review.digest}
    return seen | {"csrfmiddlewaretoken": "secret", "seen_at": "now"} | fields


def edited(review, subject="Changed", **fields):
    return typed(review, **{SUBJECT: subject}, **fields)


def test_what_was_typed_is_in_the_form_again_with_a_word(client, page, review):
    page()
    client.post(address(review), edited(review, note="Fine."))

    shown = page()

    form = form_of(shown, "edit")
    assert form[SUBJECT].value() == "Changed"
    assert form["note"].value() == "Fine."
    assert "restored" in shown.content.decode()
    assert "The item has changed since" not in shown.content.decode()


def test_tokens_are_not_kept(client, page, review):
    page()
    client.post(address(review), edited(review))

    assert Draft.objects.get().fields == {
        "item_version": str(review.version),
        SUBJECT: "Changed",
    }


def test_a_draft_is_its_writers_alone(client, page, review, ana, ben):
    drafts.save(review.pk, person=ben, form="edit", fields=edited(review))

    assert form_of(page(), "edit")[SUBJECT].value() != "Changed"
    client.post(address(review), {"act": "discard"})
    assert Draft.objects.filter(person=ben).exists()


def test_a_newer_draft_takes_the_place_of_the_older(page, review, ana):
    for subject in ("Once", "Twice"):
        fields = edited(review, subject)
        drafts.save(review.pk, person=ana, form="edit", fields=fields)

    assert form_of(page(), "edit")[SUBJECT].value() == "Twice"


def test_only_fields_of_the_form_are_restored(page, review, ana):
    fields = edited(review) | {"arguments.bcc": "me@example.com", "__class__": "x"}
    drafts.save(review.pk, person=ana, form="edit", fields=fields)

    shown = page()

    assert set(form_of(shown, "edit").initial) == {SUBJECT}
    assert b"me@example.com" not in shown.content


def test_a_draft_that_says_what_the_form_says_is_as_good_as_none(page, review, ana):
    subject = review.proposal["arguments"]["subject"]
    body = review.proposal["arguments"]["body"].replace("\n", "\r\n")
    fields = edited(review, subject) | {"arguments.body": body}
    drafts.save(review.pk, person=ana, form="edit", fields=fields)

    assert b"restored" not in page().content


def test_it_is_said_when_the_item_has_changed_since(page, review, ana):
    drafts.save(review.pk, person=ana, form="edit", fields=edited(review))
    Review.objects.update(version=review.version + 1)

    assert b"The item has changed since" in page().content


def test_a_draft_outlives_release_and_take_over(page, review, ana, ben):
    claims.claim(review.pk, by=ana)
    drafts.save(review.pk, person=ana, form="edit", fields=edited(review))
    claims.take_over(review.pk, by=ben, reason="Ana is out")
    claims.release(review.pk, by=ben)

    assert form_of(page(), "edit")[SUBJECT].value() == "Changed"


def decide(client, review, kind="edit", **fields):
    where = reverse("reviews:decide", args=[review.pk, kind])
    return client.post(where, typed(review, **fields))


def test_a_decision_refused_because_another_holds_it_is_kept(client, page, review, ben):
    page()
    claims.claim(review.pk, by=ben)

    answer = decide(client, review, **{SUBJECT: "Changed"})

    assert answer.status_code == 409
    assert form_of(page(), "edit")[SUBJECT].value() == "Changed"


def test_a_decision_with_something_wrong_in_it_is_kept(client, page, review):
    page()

    answer = decide(client, review, **{SUBJECT: "Changed", "arguments.copies": "many"})

    assert answer.status_code == 422
    assert form_of(page(), "edit")["arguments.copies"].value() == "many"


def test_deciding_ends_the_deciders_drafts_and_nobody_elses(review, ana, ben):
    for person in (ana, ben):
        drafts.save(review.pk, person=person, form="guide", fields={"text": "x"})
        drafts.save(review.pk, person=person, form="notes", fields={"text": "y"})

    seen = {"item_version": review.version, "digest": review.digest}
    services.decide(review.pk, by=ana, kind="approve", **seen)

    assert set(Draft.objects.values_list("person", flat=True)) == {ben.pk}


def test_a_note_is_a_draft_until_it_is_added(client, page, review):
    page()
    client.post(address(review, "notes"), typed(review, text="Ask finance"))
    shown = page().content.decode()

    client.post(reverse("reviews:notes", args=[review.pk]), {"text": "Ask finance"})

    assert ">Ask finance</textarea>" in shown
    assert not Draft.objects.exists()


def test_discarding_brings_back_what_the_item_says(client, page, review):
    page()
    client.post(address(review), edited(review))

    answer = client.post(address(review), {"act": "discard"})

    assert answer["Location"] == reverse("reviews:detail", args=[review.pk])
    assert not Draft.objects.exists()
    assert b"restored" not in page().content


def test_nothing_is_kept_of_a_closed_item(client, page, review):
    page()
    Review.objects.update(status="cancelled", closed_at=review.opened_at)

    answer = client.post(address(review), edited(review))

    assert answer.status_code == 409
    assert not Draft.objects.exists()


def test_a_draft_has_an_end(client, page, review):
    page()
    most = "x" * (drafts.MOST_BYTES + 1)

    answer = client.post(address(review), edited(review, most))

    assert answer.status_code == 422
    assert not Draft.objects.exists()


def test_there_is_no_draft_of_a_form_that_does_not_exist(review, ana):
    with pytest.raises(BadInput):
        drafts.save(review.pk, person=ana, form="nonsense", fields={})


def test_who_may_not_see_the_item_keeps_no_draft_of_it(review):
    client = Client()
    client.force_login(factory.make_user("sub", "submitters"))

    assert client.post(address(review), edited(review)).status_code == 404


def test_what_no_database_holds_is_cleaned(page, review, ana):
    drafts.save(review.pk, person=ana, form="guide", fields={"text": "a\x00b\ud800"})

    assert page().status_code == 200
