"""A page that stays open asks whether what it shows still holds, and gets only that."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentops import clock
from reviews import claims, glance, notes
from reviews.models import Note, Review
from runs import glance as run_glance
from runs.models import Run
from runs.states import RunState
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
        r'name="(state|shown|lost|notes)" value="([^"]*)"',
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

    assert set(shown) == {"state", "shown", "lost", "notes"}
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

    along = ["held"] if part == "changed" else []
    assert parts(answer) == [part, *along]
    assert again.status_code == 204


def test_a_closed_item_is_told_and_offers_no_hold_any_more(client, ana, review):
    shown = fields(page(client, review))
    claims.claim(review.pk, by=factory.make_user("ben", "operators"))
    close(review)

    answer = ask(client, review, shown)

    assert parts(answer) == ["changed", "held"]
    assert b"Claim it" not in answer.content
    assert b"holds this" not in answer.content
    assert ask(client, review, fields(answer.content.decode())).status_code == 204


def test_notes_go_on_coming_to_the_page_of_a_closed_item(client, ana, review):
    close(review)
    shown = fields(page(client, review))
    before = ask(client, review, shown)
    notes.add(review, by=ana, text="For the record")

    after = ask(client, review, shown)

    assert set(shown) == {"state", "notes"}
    assert before.status_code == 204
    assert parts(after) == ["notes-list"]


def test_a_decision_that_was_taken_back_is_told_too(client, ana, review):
    shown = fields(page(client, review))
    close(review)
    shown |= fields(ask(client, review, shown).content.decode())
    Review.objects.update(status="open", closed_at=None, version=9)

    assert parts(ask(client, review, shown)) == ["changed", "held"]


@pytest.mark.parametrize("sent", [{}, {"notes": "x"}, {"shown": "@", "lost": "\x00"}])
def test_odd_questions_are_answered(client, ana, review, sent):
    assert ask(client, review, sent).status_code in {200, 204}


def test_the_answer_that_nothing_changed_takes_one_query_of_the_item(ana, review):
    shown = glance.Shown(glance.state_of(review), None, "0")
    factory.ask_rights_of(ana)

    with CaptureQueriesContext(connection) as captured:
        changes = glance.look(ana, review.pk, shown, clock.now())

    assert not changes
    assert len(captured) == 1


def test_a_page_of_what_had_expired_hears_that_it_is_asked_again(client, ana, review):
    Review.objects.update(status="expired", closed_at=review.opened_at)
    shown = fields(page(client, review))
    before = ask(client, review, shown)
    Review.objects.update(status="open", closed_at=None, version=9)

    assert before.status_code == 204
    assert parts(ask(client, review, shown)) == ["changed"]


def test_the_pane_hears_of_a_decision_and_of_its_being_taken_back(client, ana, review):
    pane = client.get(reverse("reviews:pane", args=[review.pk])).content.decode()
    close(review)
    decided = ask(client, review, fields(pane))
    Review.objects.update(status="open", closed_at=None, version=9)

    again = ask(client, review, fields(decided.content.decode()))

    assert parts(decided) == parts(again) == ["changed", "held"]


def test_a_note_that_was_begun_earlier_and_kept_later_comes_too(client, ana, review):
    notes.add(review, by=ana, text="One")
    shown = fields(page(client, review))
    note = notes.add(review, by=ana, text="Two")
    Note.objects.filter(pk=note.pk).update(created_at=review.opened_at)

    assert parts(ask(client, review, shown)) == ["notes-list"]


@pytest.fixture
def decided(monkeypatch, ana, review) -> Review:
    """Its run goes on, and no tick falls into the test."""
    monkeypatch.setattr(run_glance, "TICK_S", 10**10)
    close(review)
    factory.change_state(review.run, RunState.IDLE)
    return Review.objects.get()


def ask_for_steps(client, review, sent):
    return client.get(reverse("reviews:happened", args=[review.pk]), sent)


def of_run(markup: str) -> dict[str, str]:
    return dict(re.findall(r'name="(seen|from|line)" value="([^"]*)"', markup))


def test_a_run_that_stays_as_it_is_shown_is_not_drawn_again(client, decided):
    shown = of_run(page(client, decided))

    assert set(shown) == {"seen", "from", "line"}
    assert ask_for_steps(client, decided, shown).status_code == 204


def test_a_run_that_goes_on_is_drawn_with_its_line_and_then_known(client, decided):
    shown = of_run(page(client, decided))
    Run.objects.update(tokens=777)

    answer = ask_for_steps(client, decided, shown)
    again = ask_for_steps(client, decided, of_run(answer.content.decode()))

    assert b"777 tokens" in answer.content
    assert b'id="after" hx-swap-oob="morph"' in answer.content
    assert again.status_code == 204


def test_a_page_without_the_line_is_not_sent_it(client, decided):
    shown = of_run(page(client, decided))
    Run.objects.update(tokens=777)
    del shown["line"]

    assert b'id="after"' not in ask_for_steps(client, decided, shown).content


def test_that_a_run_stays_as_it_was_takes_one_query(ana, decided):
    factory.ask_rights_of(ana)
    stamp = run_glance.stamp(decided.run)

    with CaptureQueriesContext(connection) as captured:
        is_as_seen = glance.is_run_as_seen(ana, decided.pk, stamp)

    assert is_as_seen
    assert len(captured) == 1
