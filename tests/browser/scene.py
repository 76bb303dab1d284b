"""An inbox full of parked runs, as rows: no worker has to play them first."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User

from agentops import clock
from reviews import claims
from reviews.models import Review, Seen
from reviews.ranking import weighed
from runs.canonical import digest, idempotency_key
from runs.models import Agent
from runs.states import ParkReason
from runs.values import ProposedCall
from tests.support import factory


def letter(to: str, **fields: Any) -> Review:
    """A parked run that wants to send an e-mail; the submitter of the demo asked."""
    return park(f"Send e-mail to {to}", {"to": [to]}, **fields)


def park(
    title: str,
    arguments: dict[str, Any] | None = None,
    *,
    reason: ParkReason = ParkReason.LOW_CONFIDENCE,
    agent: str = "quarterly-metrics",
    question: str = "The check is 62 % sure, 80 % is needed.",
    minutes_ago: float = 0,
    minutes_left: float = 180,
    cost: str = "0.0037",
    seen_by: str = "",
    **fields: Any,
) -> Review:
    run = factory.make_run(
        Agent.objects.get(slug=agent),
        User.objects.get(username="submitter"),
        cost=Decimal(cost),
        task=f"{title}, as agreed.",
    )
    call = None if arguments is None else _call(run.root_key, title, arguments)
    review = factory.park(
        run,
        reason,
        call=call,
        has_call=call is not None,
        title=title,
        question=question,
        **fields,
    )
    opened_at = clock.now() - timedelta(minutes=minutes_ago)
    due_at = clock.now() + timedelta(minutes=minutes_left)
    points = sum(stake["points"] for stake in review.stakes)
    rank_at = weighed(opened_at, due_at, points)
    Review.objects.filter(pk=review.pk).update(
        opened_at=opened_at, due_at=due_at, rank_at=rank_at
    )
    if seen_by:
        person = User.objects.get(username=seen_by)
        Seen.objects.create(review=review, person=person, first_at=opened_at)
    review.refresh_from_db()
    return review


def _call(root: str, title: str, arguments: dict[str, Any]) -> ProposedCall:
    given = {"subject": "Q3 2024", "body": "September grew 37.3 %."} | arguments
    return ProposedCall(
        id="call_1",
        tool="send_email",
        arguments=given,
        digest=digest(["send_email", given]),
        key=idempotency_key(root, "send_email", given, 1),
        effect="irreversible",
        occurrence=1,
        title=title,
    )


def full() -> list[Review]:
    """One of many kinds each: what a busy morning looks like."""
    return [
        park(
            "Did this happen? Pay 4,120.00 EUR to Brandt Logistik",
            {"to": ["payments@brandt.example"]},
            reason=ParkReason.OUTCOME_UNKNOWN,
            question="It was started and no result came back: connection lost.",
            minutes_ago=31,
            minutes_left=14,
        ),
        letter(
            "board@company.com",
            reason=ParkReason.UNTRUSTED_CONTENT,
            question="The agent has read untrusted content. Send email asks after that.",
            minutes_ago=80,
            minutes_left=-6,
            seen_by="operator",
        ),
        letter("analytics@company.com", minutes_ago=18, seen_by="operator"),
        park(
            "Digest the last 212 of 940 support calls",
            reason=ParkReason.BUDGET,
            question="Money: $2.00 of $2.00 used, the next call may take $0.04.",
            minutes_ago=74,
            cost="2.00",
            agent="flaky-status",
        ),
        park(
            "Which Aldermoor contract is meant, 2023 or 2025?",
            reason=ParkReason.QUESTION,
            question="Both match the task.",
            minutes_ago=125,
            seen_by="operator",
            agent="vendor-question",
        ),
        park(
            "Resume the weekly churn report",
            reason=ParkReason.FATAL,
            question="It failed: 401, the model's endpoint refused the key.",
            error={"class": "fatal", "text": "401: the key was refused"},
            minutes_ago=420,
            minutes_left=1080,
            agent="flaky-status",
        ),
    ]


def hold(review: Review, name: str) -> None:
    claims.claim(review.pk, by=User.objects.get(username=name))
