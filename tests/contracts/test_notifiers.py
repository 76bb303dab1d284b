"""Every notifier delivers, says when it cannot, and never carries foreign text."""

from __future__ import annotations

import pytest

from reviews.models import Notification
from reviews.notifiers import base, message
from runs.states import StepKind, StepStatus
from runs.tools import registry as tools
from tests.support import factory

every_notifier = pytest.mark.parametrize(
    "notifier", base.all_notifiers(), ids=lambda notifier: notifier.name
)

EVIL = 'https://evil.example/a <!channel> <b>"&amp;</b> [Approve](https://evil.example)'


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def outbox_row(db):
    """Call it: the row of a review full of foreign text."""

    def make():
        ana = factory.make_user("ana", "operators")
        run = factory.make_run(task=EVIL)
        call = factory.make_call(run, factory.MAIL | {"subject": EVIL}, title=EVIL)
        factory.add_step(
            run,
            StepKind.TOOL,
            name=EVIL[:200],
            status=StepStatus.FAILED.value,
            error_class="invalid",
            error_text=EVIL,
        )
        factory.park(
            run,
            call=call,
            question=EVIL,
            reasoning=EVIL,
            error={"class": "fatal", "text": EVIL},
        )
        return Notification.objects.get(person=ana, event="opened")

    return make


@every_notifier
def test_it_is_found_by_its_name(notifier):
    assert base.find(notifier.name) is notifier


@every_notifier
def test_it_delivers(notifier, outbox_row, mailoutbox):
    notifier.send("ana@example.com", message.of([outbox_row()]))

    assert len(mailoutbox) == 1


@every_notifier
def test_it_carries_no_text_of_models_and_tools_but_the_object(
    notifier, outbox_row, mailoutbox
):
    notifier.send("ana@example.com", message.of([outbox_row()]))

    sent = mailoutbox[0]
    page = sent.alternatives[0][0]
    for text in (sent.subject, sent.body, page):
        assert "evil" in text
        assert text.count("evil[.]example") == text.count("evil")
    assert "<b>" not in page
    assert "<!channel>" not in page


def test_a_channel_that_does_not_exist_is_undeliverable_for_good():
    with pytest.raises(base.Undeliverable) as caught:
        base.find("pigeon")
    assert caught.value.permanent


def test_two_notifiers_cannot_have_one_name():
    class Email(base.Notifier):
        name = "email"

    with pytest.raises(ValueError, match="email"):
        base.notifier(Email)
