"""Who is told of what, when, and how often."""

from __future__ import annotations

import pytest
from django.core import mail
from django.db import transaction

from agentops import clock
from agentops.conf import product
from reviews import telling
from reviews.models import Notification
from reviews.notifiers import message
from runs.states import ParkReason, RunState
from tests.reviews.told import HIGH, HOUR, abort, delivered, subjects, texts
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


@pytest.fixture
def sue():
    return factory.make_user("sue", "submitters")


def test_high_risk_goes_out_at_once_and_alone(ana):
    factory.park(reason=HIGH)
    factory.park(reason=HIGH)

    assert len(delivered()) == 2


def test_medium_risk_waits_for_an_hour_and_goes_out_together(ana, advance_clock):
    factory.park()
    advance_clock(HOUR / 2)
    factory.park()
    assert delivered() == []

    advance_clock(HOUR / 2 + 1)

    assert delivered() == ["2 runs wait for a decision"]
    assert delivered() == []
    told = Notification.objects.filter(event="opened")
    assert {row.status for row in told} == {"sent"}


def test_a_message_about_several_names_each_with_its_link(ana, advance_clock):
    first, second = factory.park(), factory.park()
    advance_clock(HOUR + 1)

    delivered()

    for text in texts(mail.outbox[0]):
        assert f"/reviews/{first.pk}/" in text
        assert f"/reviews/{second.pk}/" in text
        assert text.count("Post to analytics@example.com") == 2


def test_a_message_about_very_many_names_some_of_them(ana, advance_clock, monkeypatch):
    monkeypatch.setattr(message, "LISTED", 1)
    for _ in range(3):
        factory.park()
    advance_clock(HOUR + 1)

    assert delivered() == ["3 runs wait for a decision"]
    assert "and 2 more" in mail.outbox[0].body


def test_what_was_decided_meanwhile_is_left_out(ana, advance_clock):
    review = factory.park()
    factory.park()
    abort(review, factory.make_user("ben", "operators"))
    advance_clock(HOUR + 1)

    (subject,) = delivered()

    assert subject.startswith("Post letter")


def test_low_risk_does_not_wait_longer_than_half_of_its_time(ana, advance_clock):
    low = ParkReason.QUESTION
    review = factory.park(has_call=False, reason=low)
    assert review.risk == "low"
    advance_clock(product().review_due_s / 2 - 60)
    assert delivered() == []

    advance_clock(61)

    assert len(delivered()) == 1


def test_two_people_are_told_each_of_their_own(ana, advance_clock):
    factory.make_user("ben", "operators")
    factory.park()
    factory.park()
    advance_clock(HOUR + 1)

    delivered()

    assert subjects("ana") == subjects("ben") == ["2 runs wait for a decision"]


def test_the_same_item_is_told_once_however_often_it_is_written(ana):
    review = factory.park(reason=HIGH)

    with transaction.atomic():
        telling.opened(review.run, review, clock.now())

    assert len(delivered()) == 1
    assert delivered() == []


def test_who_asked_is_told_that_it_waits_and_how_it_ends(ana, sue, advance_clock):
    run = factory.make_run(by=sue)
    review = factory.park(run)
    name = run.agent.name

    assert delivered("sue") == [f"{name}: your run waits for a person"]
    factory.change_state(review.run, RunState.EXECUTING)
    factory.change_state(review.run, RunState.COMPLETED)

    assert delivered("sue") == [f"{name}: your run has finished"]
    assert f"/runs/{run.pk}/" in mail.outbox[-1].body
    assert delivered("ana") == []


def test_who_asked_gets_no_word_for_operators(sue):
    factory.park(factory.make_run(by=sue))

    delivered("sue")

    for text in texts(mail.outbox[0]):
        assert "62 %" not in text
        assert "risk" not in text.lower()
        assert "/reviews/" not in text


def test_who_asked_is_told_that_somebody_aborted_it(sue):
    run = factory.make_run(by=sue)

    factory.change_state(run, RunState.ABORTED)

    assert delivered("sue") == [f"{run.agent.name}: your run was aborted"]


def test_who_asked_and_may_decide_is_told_once(ana):
    agent = factory.make_agent(allow_self_decision=True)

    factory.park(factory.make_run(agent, by=ana), reason=HIGH)

    assert len(delivered()) == 1


def test_who_aborts_their_own_run_knows_that(sue):
    from runs import services as runs

    run = factory.make_run(by=sue)

    runs.cancel(run.pk, by=sue, reason="Not needed.")

    assert delivered("sue") == []
