"""Every notifier delivers, says when it cannot, and never carries foreign text."""

from __future__ import annotations

import json

import pytest

from reviews.models import Notification
from reviews.notifiers import base, message
from runs.states import StepKind, StepStatus
from runs.tools import registry as tools
from tests.support import factory

pytestmark = pytest.mark.once

every_notifier = pytest.mark.parametrize(
    "notifier", base.all_notifiers(), ids=lambda notifier: notifier.name
)

EVIL = 'https://evil.example/a <!channel> <b>"&amp;</b> [Approve](https://evil.example)'
ADDRESSES = {
    "email": "ana@example.com",
    "slack": "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrId",
    "teams": "workflows://prod-1.westus.logic.azure.com/643e69f83c8944438d681191/sig",
    "pagerduty": "pagerduty://0123456789abcdef0123456789abcdef@key",
}


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def said(db):
    """The message about a review full of foreign text."""
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
    return message.of([Notification.objects.get(person=ana, event="opened")])


@pytest.fixture
def sent(said, services, mailoutbox):
    """Call it with a notifier: all that its other side gets, in pieces."""

    def send(notifier):
        address = ADDRESSES.get(notifier.name, services.url)
        notifier.send(address, said)
        mails = [[m.subject, m.body, m.alternatives[0][0]] for m in mailoutbox]
        return [*mails, *services.bodies]

    return send


@every_notifier
def test_it_is_found_by_its_name(notifier):
    assert base.find(notifier.name) is notifier


@every_notifier
def test_it_can_be_offered_in_a_form(notifier):
    assert notifier.label
    assert notifier.hint


@every_notifier
def test_it_keeps_a_good_address_and_refuses_nonsense(notifier):
    good = ADDRESSES.get(notifier.name, "https://example.com/hook")

    assert notifier.clean(good) == good
    with pytest.raises(ValueError, match=r"."):
        notifier.clean("nonsense")


@every_notifier
def test_it_delivers_once(notifier, sent):
    assert len(sent(notifier)) == 1


@every_notifier
def test_it_carries_no_foreign_text_but_the_object_and_no_link_in_that(notifier, sent):
    said = json.dumps(sent(notifier)).replace("\\", "")

    assert "evil" in said
    assert "://evil" not in said
    assert said.count("evil[.]example") == said.count("evil")


def test_a_channel_that_does_not_exist_is_undeliverable_for_good():
    with pytest.raises(base.Undeliverable) as caught:
        base.find("pigeon")
    assert caught.value.permanent


def test_two_notifiers_cannot_have_one_name():
    class Email(base.Notifier):
        name = "email"

    with pytest.raises(ValueError, match="email"):
        base.notifier(Email)
