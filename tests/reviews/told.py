"""What people have been told by mail, for tests of notices."""

from __future__ import annotations

from typing import Any

from django.core import mail

from reviews import outbox, services
from reviews.models import Decision, Review
from runs.states import ParkReason

HOUR = 3600
HIGH = ParkReason.OUTCOME_UNKNOWN
"""Parks with high risk."""


def subjects(person: str = "ana") -> list[str]:
    """What has been sent to the person by mail so far, in order."""
    address = f"{person}@example.com"
    return [str(sent.subject) for sent in mail.outbox if sent.to == [address]]


def delivered(person: str = "ana") -> list[str]:
    """Deliver what is due; returns the subjects of the person's new mails."""
    before = len(subjects(person))
    outbox.deliver()
    return subjects(person)[before:]


def texts(sent: Any) -> list[str]:
    """Both parts of a mail: the plain one and the page."""
    return [sent.body, sent.alternatives[0][0]]


def abort(review: Review, by) -> Decision:
    """Decide in a way that needs no window to undo it."""
    review.refresh_from_db()
    return services.decide(
        review.pk,
        by=by,
        kind="abort",
        item_version=review.version,
        payload={"text": "Not needed."},
    )
