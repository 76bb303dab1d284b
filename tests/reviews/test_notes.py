"""Notes of reviewers to each other: kept, listed, never lost, never for strangers."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from agentops import clock
from reviews import notes
from reviews.models import Note, Review
from reviews.models.desk import NoteKind
from runs.errors import BadInput
from tests.support import factory

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def ana(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def review() -> Review:
    return factory.park()


def address(review: Review) -> str:
    return reverse("reviews:notes", args=[review.pk])


def page(client: Client, review: Review) -> str:
    return client.get(reverse("reviews:detail", args=[review.pk])).content.decode()


def test_a_note_is_kept_and_listed_with_its_author(client, ana, review):
    answer = client.post(address(review), {"text": " Ask <sales>\nfirst. "})

    note = Note.objects.get()
    assert (note.author, note.text, note.kind) == (ana, "Ask <sales>\nfirst.", "note")
    assert answer["Location"].endswith("#notes")
    assert "Ask &lt;sales&gt;\nfirst." in page(client, review)


@pytest.mark.parametrize("text", ["", " \n ", "x" * 2001])
def test_what_cannot_be_kept_is_said_and_stays_typed(client, ana, review, text):
    answer = client.post(address(review), {"text": text})

    assert answer.status_code == 422
    assert not Note.objects.exists()
    shown = answer.content.decode()
    assert f">{text}</textarea>" in shown
    assert "It is kept here and not added yet." in shown
    assert "What happened" in shown


def test_in_place_only_the_notes_come_back(client, ana, review):
    good = client.post(address(review), {"text": "Hello"}, headers=HTMX)
    bad = client.post(address(review), {"text": ""}, headers=HTMX)

    assert good.status_code == 200
    assert bad.status_code == 422
    for answer in (good, bad):
        assert b"Hello" in answer.content
        assert b"What happened" not in answer.content


def test_the_list_answers_only_when_it_has_grown(client, ana, review):
    notes.add(review, by=ana, text="One")

    live = reverse("reviews:live", args=[review.pk])
    same = client.get(live, {"notes": 1}, headers=HTMX)
    grown = client.get(live, {"notes": 0}, headers=HTMX)

    assert same.status_code == 204
    assert b"One" in grown.content
    assert b"<textarea" not in grown.content


def test_a_decided_item_takes_notes_too(client, ana, review):
    sent = {"item_version": review.version, "digest": review.digest, "text": "No"}
    client.post(reverse("reviews:decide", args=[review.pk, "reject"]), sent)

    client.post(address(review), {"text": "For the record"})

    assert "For the record" in page(client, review)


def test_whoever_may_see_an_item_may_write(client, review):
    for group, status in (("admins", 302), ("submitters", 404)):
        client.force_login(factory.make_user("", group))

        assert client.post(address(review), {"text": "Hi"}).status_code == status


def test_a_note_needs_the_token_against_forgery(ana, review):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ana)

    assert strict.post(address(review), {"text": "Hi"}).status_code == 403
    assert not Note.objects.exists()


def test_a_take_over_is_listed_as_what_somebody_did(client, ana, review):
    Note.objects.create(
        review=review,
        author=factory.make_user("ben"),
        kind=NoteKind.TAKE_OVER.value,
        text="Ana is away",
        created_at=clock.now(),
    )

    assert "ben <b>took this over</b>" in page(client, review)


def test_long_discussions_show_the_newest(client, ana, review):
    Note.objects.bulk_create(
        Note(review=review, author=ana, text=f"n{number}!", created_at=clock.now())
        for number in range(notes.SHOWN + 1)
    )

    found = notes.of(review)

    assert found.is_cut
    assert [line.note.text for line in found.lines][:1] == ["n1!"]
    assert len(found.lines) == notes.SHOWN


def test_a_note_too_long_says_by_how_much(ana, review):
    with pytest.raises(BadInput, match="3 characters too long"):
        notes.add(review, by=ana, text="x" * (notes.MAX_TEXT + 3))
