"""The outbox is delivered once, tried again, given up, and never harms a run."""

from __future__ import annotations

import smtplib

import pytest
from django.core import mail

from agentops import clock, redaction
from reviews import outbox, services
from reviews.models import Notification, Review, Route
from reviews.notifiers import base, message
from reviews.notifiers.base import Undeliverable
from runs.states import RunState
from tests.support import factory

pytestmark = pytest.mark.django_db

NOTHING = dict.fromkeys(("sent", "later", "failed", "dropped", "waiting"), 0)


class Broken(base.Notifier):
    """Fails as often as it is told to."""

    name = "broken"

    def __init__(self):
        self.calls = 0
        self.error: Exception | None = Undeliverable("no answer", permanent=False)

    def send(self, address, said):
        self.calls += 1
        if self.error:
            raise self.error


@pytest.fixture
def broken(monkeypatch):
    base.all_notifiers()
    channel = Broken()
    monkeypatch.setitem(base._notifiers, "broken", channel)
    return channel


@pytest.fixture(autouse=True)
def at_once(configured):
    """Nothing waits to go out with others."""
    configured(notify_every_medium_s=0)


def parked(person="ana"):
    """The row that tells a person of a run that has just parked."""
    factory.park()
    return Notification.objects.get(event="opened", person__username=person)


@pytest.fixture
def row():
    factory.make_user("ana", "operators")
    return parked()


@pytest.fixture
def broken_row(broken):
    ana = factory.make_user("ana", "operators")
    Route.objects.create(person=ana, channel="broken", address="somewhere")
    return parked()


def again(row):
    row.refresh_from_db()
    return row


def test_what_is_due_is_sent(row):
    assert outbox.deliver()["sent"] == 1

    assert again(row).status == "sent"
    assert row.sent_at is not None
    assert mail.outbox[0].to == ["ana@example.com"]


def test_it_is_sent_once(row):
    outbox.deliver()
    outbox.deliver()

    assert len(mail.outbox) == 1


def test_a_row_that_another_delivery_claimed_is_left_alone(row):
    assert outbox.claim(again(row), clock.now())

    assert not outbox.claim(
        Notification(pk=row.pk, next_at=row.created_at), clock.now()
    )
    assert outbox.deliver()["sent"] == 0


def test_a_claim_that_came_to_nothing_runs_out(row, advance_clock):
    outbox.claim(row, clock.now())

    advance_clock(outbox.CLAIM_S + 1)

    assert outbox.deliver()["sent"] == 1


def test_n01_a_failure_is_tried_again_later_and_later(
    broken_row, broken, advance_clock
):
    for wait_s in (15, 60, 240, 960):
        assert outbox.deliver()["later"] == 1
        assert outbox.deliver() == NOTHING
        advance_clock(wait_s + 1)

    assert outbox.deliver()["failed"] == 1
    assert again(broken_row).status == "failed"
    assert broken_row.error == "no answer"
    assert broken.calls == 5


def test_a_permanent_failure_is_not_tried_again(broken_row, broken):
    broken.error = Undeliverable("no such person", permanent=True)

    assert outbox.deliver()["failed"] == 1
    assert again(broken_row).status == "failed"


def test_a_success_after_failures_clears_the_error(broken_row, broken, advance_clock):
    outbox.deliver()
    broken.error = None
    advance_clock(16)

    assert outbox.deliver()["sent"] == 1
    assert again(broken_row).error == ""


def test_an_exception_of_a_notifier_is_a_failure_like_any(broken_row, broken, caplog):
    broken.error = ZeroDivisionError("odd")

    assert outbox.deliver()["later"] == 1
    assert "ZeroDivisionError" in again(broken_row).error
    assert "the notifier broken failed" in caplog.text


def test_a_row_that_keeps_killing_its_worker_is_given_up(row):
    Notification.objects.filter(pk=row.pk).update(attempts=outbox.MAX_TRIES)

    assert outbox.deliver()["failed"] == 1
    assert mail.outbox == []


def test_n01_a_failure_leaves_run_and_review_alone(broken_row, broken):
    outbox.deliver()

    review = Review.objects.get()
    assert review.status == "open"
    assert review.run.state == RunState.AWAITING_HUMAN


def test_nothing_is_said_about_what_is_decided_already(row):
    review = Review.objects.get()
    services.decide(
        review.pk,
        by=row.person,
        kind="abort",
        item_version=1,
        payload={"text": "Not needed."},
    )

    assert outbox.deliver()["dropped"] == 1
    assert again(row).status == "dropped"
    assert mail.outbox == []


def test_what_tells_of_no_review_and_no_failure_is_given_up(row):
    Notification.objects.filter(pk=row.pk).update(review=None)

    assert outbox.deliver()["failed"] == 1


def test_an_unknown_channel_fails_for_good():
    ana = factory.make_user("ana", "operators")
    Route.objects.create(person=ana, channel="pigeon", address="somewhere")
    row = parked()

    assert outbox.deliver()["failed"] == 1
    assert "pigeon" in again(row).error


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
            base.find("email").send("ana@example.com", message.of_test())
        assert caught.value.permanent is permanent
        assert "secret" not in caught.value.message


def _raising(error):
    def send(self, fail_silently=False):
        raise error

    return send


@pytest.mark.parametrize(
    ("channel", "address", "is_hidden"),
    [
        ("webhook", "https://hook.example/Zq7RtB2mKx9W", True),
        ("email", "ana1@example.com", False),
    ],
)
def test_an_address_that_is_secret_is_hidden_once_it_is_used(
    monkeypatch, channel, address, is_hidden
):
    redaction.forget()
    monkeypatch.setattr(type(base.find(channel)), "send", lambda *_: None)
    ana = factory.make_user("ana", "operators")
    Route.objects.create(person=ana, channel=channel, address=address)
    factory.park()

    counts = outbox.deliver()

    hidden = redaction.hide(address) != address
    redaction.forget()
    assert counts["sent"] > 0
    assert hidden is is_hidden
