"""The mail says what, why, how risky and until when, and has one link: ours."""

from __future__ import annotations

import re

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler
from django.core import mail as outbox

from reviews import tasks
from reviews.models import Notification
from reviews.notifiers import email, message
from reviews.notifiers.base import Undeliverable
from runs.states import ParkReason, RunState, StepKind, StepStatus
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(configured):
    configured(base_url="https://agentops.example.com/")
    return factory.park()


def compose(review, address="ana@example.com"):
    """The mail that tells somebody of a review."""
    row = Notification(review=review, run=review.run, event="opened")
    return email.compose(address, message.of([row]))


def texts(mail):
    """The mail's plain text and its HTML."""
    return [mail.body, mail.alternatives[0][0]]


def test_the_subject_says_verb_reason_risk_and_deadline(review):
    subject = compose(review).subject

    assert subject.startswith(
        "Post letter: Post to analytics@example.com: low confidence, medium risk, due "
    )
    assert subject.endswith("UTC")


def test_both_parts_say_why_and_link_to_the_page(review):
    link = f"https://agentops.example.com/reviews/{review.pk}/"

    for text in texts(compose(review)):
        assert "less sure than this tool needs" in text
        assert "Stated 62 %, needed 80 %." in text
        assert link in text


def test_s03_there_is_one_link_in_each_part(review):
    text, page = texts(compose(review))

    assert len(re.findall("https?://", text)) == 1
    assert page.count("<a ") == 1
    assert len(re.findall("https?://", page)) == 1


def test_it_has_no_arguments(review):
    for text in texts(compose(review)):
        assert "Q3 2024 Revenue Summary" not in text
        assert "September" not in text


def test_a_review_rule_is_quoted_in_the_admins_words():
    rule = "a month grows more than 30 %"
    agent = factory.make_agent(review_when=[rule])
    figures = {"confidence": "0.9", "threshold": "0.8", "rules": [rule, "made up"]}
    review = factory.park(
        factory.make_run(agent), ParkReason.REVIEW_RULE, figures=figures
    )

    text = compose(review).body

    assert f"Rule: {rule}." in text
    assert "made up" not in text


def test_the_last_five_tool_calls_are_named_with_their_outcome():
    run = factory.make_run()
    factory.add_step(run, StepKind.TOOL, name="calculate")
    for number in range(3):
        factory.add_step(run, StepKind.TOOL, name="post_letter", digest=str(number))
    factory.add_step(
        run,
        StepKind.TOOL,
        name="post_letter",
        status=StepStatus.FAILED.value,
        error_class="invalid",
    )
    factory.add_step(run, StepKind.TOOL, name="made_up", response={"is_error": True})
    review = factory.park(run)

    text = compose(review).body

    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert lines == [
        "- Post letter: done",
        "- Post letter: done",
        "- Post letter: done",
        "- Post letter: failed (invalid)",
        "- Unknown tool: answered with an error",
    ]
    assert "Last error: invalid" in text


def test_the_class_of_the_error_is_named_without_its_text():
    error = {"class": "fatal", "text": "the key is sk-123"}
    review = factory.park(reason=ParkReason.FATAL, has_call=False, error=error)

    for text in texts(compose(review)):
        assert "fatal" in text
        assert "sk-123" not in text


def test_s03_names_are_escaped_in_the_page():
    agent = factory.make_agent(name="<b>R&D</b>")

    mail = compose(factory.park(factory.make_run(agent)))

    text, page = texts(mail)
    assert "<b>R&D</b>" in text
    assert "&lt;b&gt;R&amp;D&lt;/b&gt;" in page


def test_a_wrong_address_is_given_up_for_good(review):
    with pytest.raises(Undeliverable) as caught:
        compose(review, "ana@example.com\nBcc: eve@example.com")
    assert caught.value.permanent


def test_n03_a_failed_run_is_told_with_a_link_to_it(configured):
    configured(base_url="https://agentops.example.com")
    submitter = factory.make_user("sue", "submitters")
    factory.make_user("ana", "operators")
    run = factory.make_run(by=submitter)
    factory.add_step(run, StepKind.MODEL, error_class="fatal", error_text="sk-123")

    factory.change_state(run, RunState.ERROR)
    assert tasks.deliver()["sent"] == 2

    ana, sue = sorted(outbox.outbox, key=lambda mail: mail.to)
    assert (ana.to, sue.to) == (["ana@example.com"], ["sue@example.com"])
    assert ana.subject.endswith("a run failed")
    for text in texts(ana):
        assert f"https://agentops.example.com/runs/{run.pk}/" in text
        assert "fatal" in text
        assert "sk-123" not in text
        assert "Due" not in text


class Inbox(MessageHandler):
    """What the server has taken."""

    def __init__(self):
        super().__init__()
        self.mails = []

    def handle_message(self, message):
        self.mails.append(message)


def test_a_real_server_receives_it(settings, unused_port):
    inbox = Inbox()
    server = Controller(inbox, hostname="127.0.0.1", port=unused_port)
    server.start()
    try:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", unused_port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        factory.make_user("ana", "operators")
        factory.park(reason=ParkReason.OUTCOME_UNKNOWN)

        assert tasks.deliver()["sent"] == 1
    finally:
        server.stop()

    (mail,) = inbox.mails
    assert mail["To"] == "ana@example.com"
    assert mail["Auto-Submitted"] == "auto-generated"
    kinds = [part.get_content_type() for part in mail.walk()]
    assert kinds == ["multipart/alternative", "text/plain", "text/html"]
    assert Notification.objects.get(event="opened").status == "sent"


def test_n01_a_server_that_is_not_there_means_later(settings, unused_port):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", unused_port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    factory.make_user("ana", "operators")
    factory.park(reason=ParkReason.OUTCOME_UNKNOWN)

    assert tasks.deliver()["later"] == 1
    row = Notification.objects.get(event="opened")
    assert "ConnectionRefusedError" in row.error


@pytest.fixture
def unused_port():
    """A port that nobody listens on, as far as one can know."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
