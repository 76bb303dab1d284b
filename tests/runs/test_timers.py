"""Timers: what is due is sent, but not again at once."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django_q.models import OrmQ  # noqa: TID251

from runs import timers

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_others(monkeypatch):
    monkeypatch.setattr(timers, "_timers", {})


def test_it_sends_what_is_due_and_nothing_else():
    timers.register("app.tasks.due", lambda: True)
    timers.register("app.tasks.later", lambda: False)

    assert timers.Poll()() == ["app.tasks.due"]
    assert [row.task["func"] for row in OrmQ.objects.all()] == ["app.tasks.due"]


def test_what_was_sent_is_not_sent_again_at_once(monkeypatch):
    timers.register("app.tasks.due", lambda: True)
    poll = timers.Poll()

    assert poll() == ["app.tasks.due"]
    assert poll() == []
    monkeypatch.setattr(timers, "QUIET_S", 0)
    assert poll() == ["app.tasks.due"]


def test_a_timer_that_fails_is_not_the_others_trouble(caplog):
    timers.register("app.tasks.broken", lambda: bool(1 / 0))
    timers.register("app.tasks.due", lambda: True)

    assert timers.Poll()() == ["app.tasks.due"]
    assert "app.tasks.broken" in caplog.text


def test_a_lost_database_is_the_askers_trouble():
    def is_due():
        raise OperationalError("gone")

    timers.register("app.tasks.due", is_due)

    with pytest.raises(OperationalError):
        timers.Poll()()


def test_a_seldom_timer_is_asked_once_in_a_while():
    answers = iter([True])
    is_due = timers.seldom(lambda: next(answers), 15.0)

    assert [is_due(), is_due()] == [True, False]


def test_a_seldom_timer_is_asked_again_later():
    is_due = timers.seldom(lambda: True, 0.0)

    assert [is_due(), is_due()] == [True, True]
