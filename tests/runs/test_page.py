"""What the page of a run gathers: what it shows, and no more rows than that."""

from __future__ import annotations

import pytest

from agentops import clock
from runs import page
from runs.models import Attempt
from runs.states import StepKind
from tests.support import factory

pytestmark = pytest.mark.django_db


def fail_once(step):
    now = clock.now()
    Attempt.objects.create(
        run=step.run,
        step_number=step.number,
        number=1,
        error_class="transient",
        error_text="Away.",
        started_at=now,
        finished_at=now,
        retry_at=now,
    )


def test_the_failed_tries_of_the_steps_shown_are_told_of_and_all_are_counted():
    run = factory.make_run()
    for _ in range(4):
        fail_once(factory.add_step(run, StepKind.MODEL))

    whole = page.of(run, run.submitter, first=3)

    assert [entry.number for entry in whole["entries"]] == [3, 4]
    assert [len(entry.attempts) for entry in whole["entries"]] == [1, 1]
    assert whole["facts"]["retries"] == 4


def test_the_tries_of_steps_that_are_not_shown_are_not_fetched():
    run = factory.make_run()
    steps = [factory.add_step(run, StepKind.MODEL) for _ in range(4)]
    for step in steps:
        fail_once(step)

    tries = page._tries(run, steps[1:3])

    assert [one.step_number for one in tries] == [2, 3]
