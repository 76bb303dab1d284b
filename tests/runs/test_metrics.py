"""The summary of a run has exactly the keys that programs read."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from agentops import clock
from runs import metrics
from runs.models import Run, Step, Transition
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db

KEYS = {
    "run_id",
    "elapsed_seconds",
    "total_llm_calls",
    "total_tool_calls",
    "error_rate",
    "total_tokens_used",
    "avg_step_duration_ms",
    "human_escalations",
    "cost",
}


def add(run: Run, number: int, kind: str, seconds: float = 2.0, **fields) -> Step:
    start = clock.now()
    values = {
        "status": "succeeded",
        "state": "executing",
        "planned_at": start,
        "started_at": start,
        "finished_at": start + timedelta(seconds=seconds),
    }
    return Step.objects.create(run=run, number=number, kind=kind, **values | fields)


def test_it_has_exactly_the_keys_before_anything_has_happened():
    summary = metrics.summary(make_run())

    assert set(summary) == KEYS
    assert summary["error_rate"] == 0.0
    assert summary["avg_step_duration_ms"] == 0.0


def test_it_counts_calls_errors_tokens_and_escalations():
    run = make_run(tokens=1200, cost=Decimal("0.0046000000"))
    add(run, 1, "plan", 3)
    add(run, 2, "model", 2)
    add(run, 3, "tool", 1, response={"is_error": True})
    add(run, 4, "check", 2)
    add(run, 5, "decision")
    add(run, 6, "tool", 2, status="failed")
    add(run, 7, "model", status="planned", started_at=None, finished_at=None)
    for state in ("awaiting_human", "executing"):
        Transition.objects.create(
            run=run,
            from_state="executing",
            to_state=state,
            reason="",
            actor="test",
            at=clock.now(),
        )

    summary = metrics.summary(run)

    assert summary["run_id"] == str(run.id)
    assert summary["total_llm_calls"] == 3
    assert summary["total_tool_calls"] == 2
    assert summary["error_rate"] == 0.4
    assert summary["total_tokens_used"] == 1200
    assert summary["avg_step_duration_ms"] == 2000.0
    assert summary["human_escalations"] == 1
    assert summary["cost"] == "0.0046"


def test_a_compaction_asks_no_model():
    run = make_run()
    add(run, 1, "model")
    add(run, 2, "compaction")

    assert metrics.summary(run)["total_llm_calls"] == 1


def test_elapsed_time_ends_when_the_run_ends():
    start = clock.now() - timedelta(hours=2)
    run = make_run(
        created_at=start,
        finished_at=start + timedelta(seconds=90),
        state="completed",
        wake_at=None,
    )

    assert metrics.summary(run)["elapsed_seconds"] == 90.0
