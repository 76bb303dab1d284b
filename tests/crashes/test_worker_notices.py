"""kill -9 of a worker in the middle of sending: the next one sends the message."""

from __future__ import annotations

import pytest

from reviews import outbox
from reviews.models import Notification, Route
from runs.states import ParkReason
from runs.tools import registry
from tests.support import factory
from tests.support.wait import wait_until

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def letters():
    with registry.added(factory.LETTER):
        yield


def test_a_worker_is_killed_while_it_sends(live_project, services, advance_clock):
    project = live_project(
        web=False, worker=False, AGENTOPS_NOTIFY_PRIVATE_HOSTS="127.0.0.1"
    )
    ana = factory.make_user("ana", "operators")
    Route.objects.create(person=ana, channel="webhook", address=services.url)
    factory.park(reason=ParkReason.OUTCOME_UNKNOWN)
    services.drips = True
    project.start_worker()
    wait_until(lambda: services.bodies, what="the first try")

    project.kill_tree("worker")

    row = Notification.objects.get(event="opened")
    assert (row.status, row.attempts) == ("pending", 1)
    services.drips = False
    advance_clock(outbox.CLAIM_S + 1)
    assert outbox.deliver()["sent"] == 1
    row.refresh_from_db()
    assert (row.status, row.attempts) == ("sent", 2)
    first, second = services.bodies
    assert first["key"] == second["key"]
