"""The pool: threads when needed, small ones, and none that outlives its use."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from runs.errors import OutcomeUnknown
from runs.pool import Pool
from runs.work import Work
from tests.support.wait import wait_until


def work(act=lambda: None) -> Work:
    return Work(run_id=uuid.uuid4(), step=1, attempt=1, act=act, deadline_s=5)


@pytest.fixture
def pool():
    pool = Pool(3)
    yield pool
    pool.close()


def io_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("io-")]


def test_what_was_submitted_comes_back(pool):
    given = work(lambda: "hello")

    pool.submit(given)

    (done,) = pool.take(10)
    assert done.work is given
    assert done.outcome
    assert done.outcome.value == "hello"


def test_taking_gives_up_after_a_while(pool):
    assert pool.take(0.01) == []


def test_threads_start_when_needed_and_are_used_again(pool):
    before = len(io_threads())
    for _ in range(5):
        pool.submit(work())
        assert pool.take(10)

    assert len(io_threads()) == before + 1
    assert pool.free == 3


def test_room_is_what_is_not_in_flight(pool):
    end = threading.Event()
    pool.submit(work(lambda: end.wait(10)))

    assert pool.free == 2
    end.set()
    pool.take(10)
    assert pool.free == 3


def test_closing_ends_the_threads():
    before = len(io_threads())
    pool = Pool(3)
    pool.submit(work())
    pool.take(10)

    pool.close()

    wait_until(lambda: len(io_threads()) <= before, what="the end of its threads")


def test_threads_are_small_and_no_other_is(pool):
    before = threading.stack_size()

    pool.submit(work())

    assert threading.stack_size() == before


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_an_act_used_is_closed(pool):
    used: list[BaseDatabaseWrapper] = []

    def act():
        User.objects.count()
        used.extend(connections.all(initialized_only=True))

    pool.submit(work(act))
    assert pool.take(10)

    assert [connection.connection for connection in used] == [None]


def test_work_that_tries_to_end_its_thread_comes_back_without_an_outcome(pool):
    def leave():
        raise SystemExit

    pool.submit(work(leave))

    (done,) = pool.take(10)
    assert done.outcome is None


def test_what_nobody_foresaw_leaves_the_outcome_of_an_act_unknown():
    def break_off():
        raise RuntimeError("half way")

    outcome = replace(work(break_off), is_irreversible=True).perform()

    assert isinstance(outcome.error, OutcomeUnknown)
    assert outcome.error.message == "RuntimeError: half way"
