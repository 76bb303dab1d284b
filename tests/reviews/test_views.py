"""The inbox and the review page: who sees what, and how every refusal is answered."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse

from reviews import glance
from reviews.models import Decision, Review
from runs.models import Run
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client):
    user = factory.make_user("ana", "operators")
    client.force_login(user)
    return user


@pytest.fixture
def review() -> Review:
    return factory.park()


def address(review: Review, name: str = "detail", *args: str) -> str:
    return reverse(f"reviews:{name}", args=[review.pk, *args])


def seal(review: Review) -> dict[str, object]:
    return {"item_version": review.version, "digest": review.digest}


# Looking


@pytest.mark.parametrize("page", ["detail", "pane"])
def test_what_was_turned_down_does_not_look_done(client, operator, review, page):
    client.post(address(review, "decide", "reject"), seal(review) | {"text": "No"})

    html = client.get(reverse(f"reviews:{page}", args=[review.pk])).content.decode()

    assert "Rejected" in html
    assert "What was asked for" in html
    assert "What will happen" not in html
    assert 'data-tone="good"' not in html.split('class="meta"')[1].split("</p>")[0]


def test_the_review_page_shows_why_what_and_the_decisions(client, operator, review):
    page = client.get(address(review)).content.decode()

    assert "<b>62 % sure</b>" in page
    assert "At 80 % it would have gone by itself." in page
    assert "analytics@example.com" in page
    assert "Cannot be undone" in page
    assert "September looks odd." in page
    for kind in ("approve", "edit", "guide", "reject", "abort"):
        assert address(review, "decide", kind) in page


def test_hidden_characters_of_arguments_are_made_visible(client, operator):
    run = factory.make_run()
    mail = factory.MAIL | {"subject": "Pay \u202e0001 EUR"}

    page = client.get(
        address(factory.park(run, call=factory.make_call(run, mail)))
    ).content.decode()

    assert "U+202E" in page
    assert "Pay \u202e" not in page.split("<form", 1)[0]


def test_a_question_and_its_answers_are_shown(client, operator):
    run = factory.make_run()
    arguments = {"question": "Which <one>?", "options": ["2023", "2025"]}
    call = factory.make_call(
        run, arguments, tool="ask_human", effect="read", title="Ask: Which one?"
    )

    page = client.get(
        address(factory.park(run, ParkReason.QUESTION, call=call))
    ).content.decode()

    assert "Which &lt;one&gt;?" in page
    assert "2023 · 2025" in page


@pytest.mark.parametrize("reason", list(ParkReason))
def test_every_reason_has_a_page_and_a_pane(client, operator, reason):
    review = factory.park(reason=reason)

    assert client.get(address(review)).status_code == 200
    assert client.get(address(review, "pane")).status_code == 200


def test_an_unknown_review_is_not_found(client, operator):
    assert client.get(reverse("reviews:detail", args=[uuid4()])).status_code == 404


def test_the_page_hears_of_a_change_and_only_then(client, operator, review):
    shown = {"state": glance.state_of(review)}
    same = client.get(address(review, "live"), shown)
    client.post(address(review, "decide", "reject"), seal(review) | {"text": "No"})
    changed = client.get(address(review, "live"), shown)

    assert same.status_code == 204
    assert b"Rejected by ana" in changed.content


# Deciding


def test_a_decision_leads_to_the_page_that_shows_it(client, operator, review):
    other = factory.park()

    answer = client.post(
        address(review, "decide", "approve"), seal(review) | {"note": "Confirmed."}
    )
    page = client.get(answer["Location"]).content.decode()

    assert answer.status_code == 302
    assert Decision.objects.get().note == "Confirmed."
    assert "by you" in page
    assert address(other) in page
    assert address(review, "decide", "approve") not in page


def test_h01_the_same_decision_sent_twice_is_one(client, operator, review):
    sent = seal(review) | {"note": "Yes"}
    first = client.post(address(review, "decide", "approve"), sent)
    second = client.post(address(review, "decide", "approve"), sent)

    assert first.status_code == second.status_code == 302
    assert Decision.objects.count() == 1


def test_h11_opening_the_address_of_a_decision_decides_nothing(
    client, operator, review
):
    answer = client.get(address(review, "decide", "approve"))

    assert answer.status_code == 405
    assert b"Opening an address decides nothing" in answer.content
    assert not Decision.objects.exists()


def test_h10_who_never_decides_is_told_so_and_finds_no_item(client, review):
    client.force_login(factory.make_user("", "submitters"))

    listed = client.get(reverse("reviews:inbox"))
    answer = client.post(address(review, "decide", "approve"), seal(review))

    assert listed.status_code == 403
    assert b"for those who decide on parked runs" in listed.content
    assert answer.status_code == 404


@pytest.mark.parametrize("way", ["detail", "pane", "live", "happened"])
def test_what_one_may_not_see_is_not_there(client, operator, way):
    hidden = factory.park(hidden_run())

    assert client.get(address(hidden, way)).status_code == 404


@pytest.mark.parametrize("way", [("decide", "approve"), ("hold",), ("notes",)])
def test_what_one_may_not_see_takes_nothing_either(client, operator, way):
    hidden = factory.park(hidden_run())

    answer = client.post(address(hidden, *way), seal(hidden))

    assert answer.status_code == 404
    assert hidden.run.agent.name.encode() not in answer.content


def hidden_run() -> Run:
    agent = factory.make_agent()
    agent.deciders.add(Group.objects.create(name="others"))
    factory.make_user("", "operators").groups.add(agent.deciders.get())
    return factory.make_run(agent)


def test_h10_one_does_not_decide_on_ones_own_run(client, operator):
    review = factory.park(factory.make_run(by=operator))

    page = client.get(address(review)).content.decode()
    answer = client.post(address(review, "decide", "approve"), seal(review))

    assert "somebody else decides on it" in page
    assert answer.status_code == 403


def test_h11_a_decision_needs_the_token_against_forgery(operator, review):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(operator)

    answer = strict.post(address(review, "decide", "approve"), seal(review))

    assert answer.status_code == 403
    assert b"This form did not come from here" in answer.content


@pytest.mark.parametrize(
    "changes",
    [
        {"item_version": 99},
        {"item_version": "x"},
        {"item_version": ""},
        {"digest": "0" * 64},
        {"digest": ""},
    ],
)
def test_a_forged_or_old_version_is_a_conflict_and_keeps_the_words(
    client, operator, review, changes
):
    sent = seal(review) | {"note": "My long words"} | changes

    answer = client.post(address(review, "decide", "approve"), sent)

    assert answer.status_code == 409
    assert b"My long words" in answer.content
    assert not Decision.objects.exists()


def test_h02_who_comes_second_sees_who_was_first(client, operator, review):
    other = Client()
    other.force_login(factory.make_user("ben", "operators"))
    other.post(address(review, "decide", "reject"), seal(review) | {"text": "Wrong"})

    answer = client.post(address(review, "decide", "approve"), seal(review))

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Rejected by ben" in page
    assert "Wrong" in page


@pytest.mark.parametrize(
    ("kind", "sent", "kept"),
    [
        ("reject", {"text": " "}, "Choose a reason, or say it in your own words."),
        ("edit", {"arguments.copies": "many", "note": "Two <b>"}, "Two &lt;b&gt;"),
    ],
)
def test_h08_a_form_with_mistakes_comes_back_with_what_was_typed(
    client, operator, review, kind, sent, kept
):
    answer = client.post(address(review, "decide", kind), seal(review) | sent)

    assert answer.status_code == 422
    assert kept in answer.content.decode()
    assert not Decision.objects.exists()


@pytest.mark.parametrize("kind", ["nonsense", "top_up"])
def test_what_cannot_be_decided_here_is_said_so(client, operator, review, kind):
    answer = client.post(address(review, "decide", kind), seal(review))

    assert answer.status_code == 422
    assert not Decision.objects.exists()


def test_h10_names_of_arguments_of_ours_cannot_be_forged(client, operator, review):
    sent = seal(review) | {"by": "1", "kind": "abort", "review_id": "2"}

    assert client.post(address(review, "decide", "approve"), sent).status_code == 302
    assert Decision.objects.get().kind == "approve"


# Holding


def test_an_item_is_claimed_released_and_taken_over(client, operator, review):
    client.post(address(review, "hold"), {"act": "claim"})
    review.refresh_from_db()
    assert review.holder == operator

    other = Client()
    other.force_login(factory.make_user("ben", "operators"))
    assert other.post(address(review, "hold")).status_code == 409
    assert other.post(address(review, "hold"), {"act": "take_over"}).status_code == 422
    taken = {"act": "take_over", "reason": "Ana is away"}
    assert other.post(address(review, "hold"), taken).status_code == 302

    client.post(address(review, "hold"), {"act": "release"})
    review.refresh_from_db()
    assert review.holder is not None
    assert review.holder.username == "ben"
