"""The queue: a task belongs to the transaction that sent it."""

from __future__ import annotations

import pytest
from django.db import OperationalError, connection, connections, transaction
from django_q.models import OrmQ, Schedule  # noqa: TID251

from agentops.conf import product
from runs import queue


class Refusing:
    """A database connection's wrapper for every statement while it is down."""

    def __call__(self, execute, sql, params, many, context):
        raise OperationalError("the server closed the connection\nunexpectedly")


@pytest.fixture
def broker():
    return queue.Broker(list_key="agentops")


@pytest.mark.django_db(transaction=True)
def test_a_task_is_sent_with_the_transaction():
    with transaction.atomic():
        queue.wake()

    (sent,) = OrmQ.objects.all()
    assert sent.task["func"] == "runs.tasks.drive"
    assert sent.task["timeout"] == product().drive_timeout_s == 1080


@pytest.mark.django_db(transaction=True)
def test_a_rollback_takes_the_task_back():
    with transaction.atomic():
        queue.wake()
        transaction.set_rollback(True)

    assert queue.length() == 0


@pytest.mark.django_db
def test_a_task_takes_arguments_and_the_queues_own_timeout():
    queue.enqueue("reviews.tasks.deliver", 7)

    (sent,) = OrmQ.objects.all()
    assert sent.task["args"] == (7,)
    assert "timeout" not in sent.task


@pytest.mark.django_db
def test_the_sweep_is_installed_once():
    queue.install_sweep()
    queue.install_sweep()

    (sweep,) = Schedule.objects.all()
    assert (sweep.func, sweep.schedule_type, sweep.minutes) == (queue.SWEEP, "I", 1)


@pytest.mark.django_db
def test_the_broker_outlives_a_database_that_is_down(broker, monkeypatch, caplog):
    monkeypatch.setattr(queue, "PAUSE_WITHOUT_DATABASE_S", 0)
    monkeypatch.setattr(connections, "close_all", lambda: None)

    with connection.execute_wrapper(Refusing()):
        assert broker.dequeue() is None
        broker.acknowledge(1)

    assert "the database does not answer: the server closed" in caplog.text


@pytest.mark.django_db
def test_the_broker_hands_out_what_was_sent(broker):
    queue.wake()

    ((task_id, _),) = broker.dequeue()
    broker.acknowledge(task_id)

    assert queue.length() == 0
