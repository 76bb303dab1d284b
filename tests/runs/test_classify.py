"""Exceptions become what happens next; waits grow and carry jitter."""

from __future__ import annotations

import sqlite3
from random import Random  # noqa: TID251 -- the jitter's source, handed in
from typing import Any

import psycopg
import pytest
from django.db import OperationalError
from pydantic import BaseModel, ValidationError

from runs.classify import backoff, classify, told
from runs.errors import Fatal, InvalidCall, NotSent, StepError, Transient


def seeded() -> Random:
    return Random(7)  # noqa: S311


class Wanted(BaseModel):
    amount: int


def validation_error() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Wanted.model_validate({"amount": "many"})
    return caught.value


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ConnectionResetError("gone"), Transient),
        (TimeoutError("late"), Transient),
        (FileNotFoundError("no file"), Transient),
        (psycopg.OperationalError("server closed the connection"), Transient),
        (OperationalError("database is locked"), Transient),
        (sqlite3.OperationalError("database is locked"), Transient),
        (ValueError("connection timed out"), Fatal),
        (KeyError("amount"), Fatal),
    ],
)
def test_it_goes_by_type(raised: Exception, expected: type[StepError]) -> None:
    found = classify(raised)

    assert type(found) is expected
    assert type(raised).__name__ in found.message


def test_it_lets_step_errors_pass() -> None:
    raised = NotSent("nobody listens", retry_after=3)

    assert classify(raised) is raised


def test_it_names_the_fields_of_a_validation_error() -> None:
    found = classify(validation_error())

    assert type(found) is InvalidCall
    assert "amount" in found.message


def test_it_shortens_what_is_said_and_hides_secrets() -> None:
    found = classify(RuntimeError("key sk-abcdef123456 " + "x" * 5000))

    assert len(found.message) <= 500
    assert "abcdef" not in found.message


def test_it_makes_texts_storable() -> None:
    assert told("a\x00b\ud800") == "a\u2400b\ufffd"


def test_it_hides_what_was_sent() -> None:
    assert told("key zzzz-99 refused", ["zzzz-99"]) == "key [hidden: a secret] refused"


def test_its_waits_grow_with_every_try() -> None:
    rng = seeded()

    waits = [backoff(n, base=1, cap=60, rng=rng) for n in range(1, 6)]

    assert waits == sorted(waits)
    assert 1 <= waits[0] < 2
    assert 16 <= waits[4] < 32


def test_its_waits_end_at_the_cap() -> None:
    assert 60 <= backoff(5000, base=1, cap=60, rng=seeded()) < 120


def test_it_never_waits_less_than_asked() -> None:
    rng = seeded()

    waits = [backoff(1, base=1, cap=60, retry_after=30, rng=rng) for _ in range(20)]

    assert min(waits) >= 30
    assert max(waits) < 31


@pytest.mark.parametrize("kwargs", [{}, {"retry_after": 1.0}, {"retry_after": 40.0}])
def test_a18_twenty_runs_do_not_come_back_at_once(kwargs: dict[str, Any]) -> None:
    rng = seeded()

    waits = {round(backoff(1, base=1, cap=60, rng=rng, **kwargs), 2) for _ in range(20)}

    assert len(waits) >= 15
