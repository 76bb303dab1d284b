"""An outage stops many runs; when it is over they are retried together and finish."""

from __future__ import annotations

import pytest

from reviews import bulk
from reviews.models import Review
from runs.models import Run
from runs.services import start
from tests.flows.conftest import make_agent
from tests.support import factory
from tests.support.advance import provider, settle
from tests.support.replies import error, text

pytestmark = pytest.mark.django_db

RUNS = 3


def test_what_an_outage_stopped_goes_on_after_one_decision(boss, configured):
    configured(max_attempts=2)
    agent = make_agent()
    ids = [start(agent=agent, by=boss, task=f"Task {n}").id for n in range(RUNS)]
    away = [error(503, f"overloaded, request req_{n}b") for n in range(2 * RUNS)]

    with provider(*away, *[text("Done.")] * RUNS):
        stopped = [settle(Run.objects.get(pk=run_id)) for run_id in ids]
        reviews = list(Review.objects.open().order_by("opened_at"))
        receipts = bulk.decide(
            [bulk.Item.of(review) for review in reviews],
            by=factory.make_user("ana", "operators"),
            kind="retry",
            batch="after the outage",
            payload={"text": "It is back."},
        )
        ended = [settle(Run.objects.get(pk=run_id)) for run_id in ids]

    assert {run.park_reason for run in stopped} == {"retries"}
    assert len({review.shape for review in reviews}) == 1
    assert all(receipt.decision for receipt in receipts)
    assert {run.state for run in ended} == {"completed"}
