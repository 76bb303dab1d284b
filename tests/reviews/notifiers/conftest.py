"""A message about an item, and one full of hostile words."""

from __future__ import annotations

import pytest

from reviews.models import Notification
from reviews.notifiers import message
from tests.support import factory

HOSTILE = (
    "<!channel> <@U1> @here *b* _i_ ~s~ `c` [Approve](https://evil.example)"
    ' <at>Ana</at> <b>"&amp;</b> \u202egnp'
)


def said_of(review, event="opened"):
    return message.of([Notification(review=review, run=review.run, event=event)])


@pytest.fixture
def said(db):
    """The message about an item of medium risk."""
    return said_of(factory.park())


@pytest.fixture
def hostile(db):
    """The same with the worst that a model could make of the object."""
    run = factory.make_run()
    return said_of(factory.park(run, call=factory.make_call(run, title=HOSTILE)))
