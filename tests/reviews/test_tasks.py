"""The outbox is delivered once, tried again, given up, and never harms a run."""

from __future__ import annotations

import smtplib

import pytest
from django.core import mail

from reviews import services, tasks
from reviews.models import Notification, Review
from reviews.notifiers import base
from reviews.notifiers.base import Undeliverable
from runs.states import RunState
from tests.support import factory

pytestmark = pytest.mark.django_db


class Broken(base.Notifier):
    """Fails as often as it is told to."""

    name = "broken"

    def __init__(self):
        self.calls = 0
        self.error: Exception | None = Undeliverable("no answer", permanent=False)

    def send(self, notification):
        self.calls += 1
        if self.error:
            raise self.error


@pytest.fixture
def broken(monkeypatch):
    base.all_notifiers()
    channel = Broken()
    monkeypatch.setitem(base._notifiers, "broken", channel)
    return channel


@pytest.fixture
def row():
    """The one notification of a run that has just parked."""
    factory.make_user("ana", "operators")
    factory.park()
    return Notification.objects.get()


@pytest.fixture
def broken_row(row, broken):
    Notification.objects.update(channel="broken")
    return row


def again(row):
    row.refresh_from_db()
    return row


def test_what_is_due_is_sent(row):
    assert tasks.is_delivery_due()

    assert tasks.deliver()["sent"] == 1

    assert again(row).status == "sent"
    assert row.sent_at is not None
    assert mail.outbox[0].to == ["ana@example.com"]
    assert not tasks.is_delivery_due()


def test_it_is_sent_once(row):
    tasks.deliver()
    tasks.deliver()

    assert len(mail.outbox) == 1


def test_a_row_that_another_delivery_claimed_is_left_alone(row):
    assert tasks._claim(row, row.created_at)

    assert not tasks._claim(row, row.created_at)
    assert tasks.deliver()["sent"] == 0


def test_a_claim_that_came_to_nothing_runs_out(row, advance_clock):
    tasks._claim(row, row.created_at)

    advance_clock(tasks.CLAIM_S + 1)

    assert tasks.deliver()["sent"] == 1


def test_a_failure_is_tried_again_later_and_later(broken_row, broken, advance_clock):
    for wait_s in (15, 60, 240, 960):
        assert tasks.deliver()["later"] == 1
        assert tasks.deliver() == {"sent": 0, "later": 0, "failed": 0, "dropped": 0}
        advance_clock(wait_s + 1)

    assert tasks.deliver()["failed"] == 1
    assert again(broken_row).status == "failed"
    assert broken_row.error == "no answer"
    assert broken.calls == 5


def test_a_permanent_failure_is_not_tried_again(broken_row, broken):
    broken.error = Undeliverable("no such person", permanent=True)

    assert tasks.deliver()["failed"] == 1
    assert again(broken_row).status == "failed"


def test_a_success_after_failures_clears_the_error(broken_row, broken, advance_clock):
    tasks.deliver()
    broken.error = None
    advance_clock(16)

    assert tasks.deliver()["sent"] == 1
    assert again(broken_row).error == ""


def test_an_exception_of_a_notifier_is_a_failure_like_any(broken_row, broken, caplog):
    broken.error = ZeroDivisionError("odd")

    assert tasks.deliver()["later"] == 1
    assert "ZeroDivisionError" in again(broken_row).error
    assert "the notifier broken failed" in caplog.text


def test_a_row_that_keeps_killing_its_worker_is_given_up(row):
    Notification.objects.update(attempts=tasks.MAX_TRIES)

    assert tasks.deliver()["failed"] == 1
    assert mail.outbox == []


def test_a_failure_leaves_run_and_review_alone(broken_row, broken):
    tasks.deliver()

    review = Review.objects.get()
    assert review.status == "open"
    assert review.run.state == RunState.AWAITING_HUMAN


def test_nothing_is_said_about_what_is_decided_already(row):
    review = Review.objects.get()
    services.decide(
        review.pk, by=row.person, kind="abort", item_version=1, text="Not needed."
    )

    assert tasks.deliver()["dropped"] == 1
    assert again(row).status == "dropped"
    assert mail.outbox == []


def test_what_tells_of_no_review_and_no_failure_is_given_up(row):
    Notification.objects.update(review=None)

    assert tasks.deliver()["failed"] == 1


def test_an_unknown_channel_fails_for_good(row):
    Notification.objects.update(channel="pigeon")

    assert tasks.deliver()["failed"] == 1
    assert "pigeon" in again(row).error


def test_the_sweep_opens_what_nobody_opened(advance_clock):
    review = factory.park()
    run = review.run
    review.delete()

    assert tasks.sweep() == {"opened": 0}  # the signal may be about to open it
    advance_clock(tasks.SWEEP_AFTER_S + 1)
    assert tasks._SweepClock().is_due()
    assert tasks.sweep() == {"opened": 1}

    assert Review.objects.get().run == run
    assert tasks.sweep() == {"opened": 0}
    assert not tasks._SweepClock().is_due()


def test_the_sweep_asks_the_database_now_and_then_only():
    clock = tasks._SweepClock()
    clock.is_due()
    factory.park().delete()

    assert not clock.is_due()


def test_errors_of_a_mail_server_are_sorted(row, monkeypatch):
    refused = smtplib.SMTPRecipientsRefused({"x": (550, b"no such user")})
    busy = smtplib.SMTPRecipientsRefused({"x": (451, b"later")})

    for error, permanent in [
        (refused, True),
        (busy, False),
        (ConnectionRefusedError("no"), False),
        (smtplib.SMTPAuthenticationError(535, b"secret"), False),
    ]:
        monkeypatch.setattr("django.core.mail.EmailMessage.send", _raising(error))
        with pytest.raises(Undeliverable) as caught:
            base.find("email").send(row)
        assert caught.value.permanent is permanent
        assert "secret" not in caught.value.message


def _raising(error):
    def send(self, fail_silently=False):
        raise error

    return send
