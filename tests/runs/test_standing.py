"""A run says in words what it does now, and how far its budgets and plan are."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from agentops import clock
from runs import standing
from runs.models import Attempt, Run, Step


def a_run(state: str = "executing", **fields: Any) -> Run:
    held = {"lease_until": clock.later(60), "wake_at": clock.now()}
    return Run(state=state, task="Do it.", **held | fields)


def a_step(kind: str, **fields: Any) -> Step:
    return Step(number=7, kind=kind, status="planned", **fields)


@pytest.mark.parametrize(
    ("state", "reason", "label", "tone"),
    [
        ("executing", "", "Executing", "run"),
        ("awaiting_human", "budget", "Parked, budget", "wait"),
        ("awaiting_human", "fatal", "Parked, error", "bad"),
        ("completed", "", "Completed", "good"),
        ("error", "", "Error", "bad"),
    ],
)
def test_a_state_has_a_word_and_a_tone(state, reason, label, tone):
    chip = standing.chip(a_run(state, park_reason=reason))

    assert (chip.label, chip.tone) == (label, tone)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (a_step("plan"), "Step 7: The model writes the plan"),
        (a_step("model"), "Step 7: The model is thinking"),
        (a_step("tool", name="query_database"), "Step 7: Query database is running"),
        (
            a_step("check", request={"tool": "send_email"}),
            "Step 7: Send e-mail is being checked before it runs",
        ),
    ],
)
def test_it_says_what_it_does_now(step, words):
    assert standing.doing(a_run(), step) == words


def test_a_step_at_work_says_how_long_it_has_been():
    long = a_step("tool", name="calculate", planned_at=clock.later(-90))

    assert (
        standing.doing(a_run(), long) == "Step 7: Calculate is running, 1 m 30 s so far"
    )


def test_a_retry_says_which_one_when_and_why():
    now = clock.now()
    tried = Attempt(
        number=2,
        error_class="transient",
        error_text="the model's endpoint answered 503\nmore",
        retry_at=now + timedelta(seconds=12.5),
    )
    run = a_run(wake_at=now + timedelta(seconds=12.5), lease_until=None)

    words = standing.doing(run, a_step("model"), [tried])

    assert words == "Retry 2 of 4 in 12 s: the model's endpoint answered 503"


def test_a_run_that_nobody_holds_waits_for_a_worker():
    assert standing.doing(a_run(lease_until=None), None) == "Waiting for a worker"


def test_a_final_run_does_nothing():
    assert standing.doing(a_run("completed"), None) == ""


def test_meters_show_used_limit_and_what_is_reserved():
    run = a_run(
        steps_used=9,
        active_ms=15_000,
        cost=Decimal("0.0037"),
        tokens=7546,
        limits={"steps": 20, "seconds": 300, "money": "0.50", "tokens": None},
    )
    step = a_step("model", reserved_cost=Decimal("0.002"), reserved_tokens=900)

    steps, seconds, money, tokens = standing.meters(run, step)

    assert (steps.used, steps.limit, steps.share) == ("9", "20", "45 %")
    assert (seconds.used, seconds.limit) == ("15 s", "5 min")
    assert (money.used, money.limit, money.reserved) == ("$0.0037", "$0.50", "$0.002")
    assert (tokens.used, tokens.limit, tokens.reserved) == ("7,546", "", "900")
    assert not tokens.is_reached


def test_the_plan_marks_the_item_being_worked_on_counted_from_one():
    plan = [
        {"text": "Read", "status": "done"},
        {"text": "Write", "status": "open"},
        {"text": "Print", "status": "dropped", "reason": "no printer"},
    ]

    running = standing.plan_of(a_run(plan=plan), a_step("model", plan_item=2))
    parked = standing.plan_of(
        a_run("awaiting_human", plan=plan), a_step("model", plan_item=2)
    )

    assert [item.icon for item in running.items] == ["tick", "run", "drop"]
    assert parked.items[1].icon == "pause"
    assert running.in_words == "1 of 3 done, 1 dropped"
