"""The figures of one run, for people, programs and the smoke test."""

from __future__ import annotations

from typing import Any

from django.db.models import (
    Avg,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    Q,
    QuerySet,
)

from agentops import clock
from runs.models import Run, Step, Transition
from runs.states import RunState, StepKind, StepStatus
from runs.undone import TAKEN_BACK

MODEL_KINDS = (StepKind.PLAN, StepKind.MODEL, StepKind.CHECK)
ENDED = (StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.OUTCOME_UNKNOWN)


def summary(run: Run) -> dict[str, Any]:
    """Exactly these keys; two queries.

    `elapsed_seconds` is wall-clock time from the submission to the end or to now,
    waiting included. A model call is a plan, model or check step that ended;
    `error_rate` is the share of ended model and tool steps that failed or were
    answered with an error, 0..1. `human_escalations` counts how often the run was
    parked, not decisions taken back. A fork counts from the step it was forked at. `cost` is in US dollars, as text.
    """
    steps = Step.objects.filter(run=run, number__gte=run.fork_step or 1)
    found = _counted(steps)
    calls = found["model_calls"] + found["tool_calls"]
    failed = found["failed"]
    took = found["average"]
    return {
        "run_id": str(run.id),
        "elapsed_seconds": round(_elapsed_s(run), 3),
        "total_llm_calls": found["model_calls"],
        "total_tool_calls": found["tool_calls"],
        "error_rate": round(failed / calls, 4) if calls else 0.0,
        "total_tokens_used": run.tokens,
        "avg_step_duration_ms": round(took.total_seconds() * 1000, 1) if took else 0.0,
        "human_escalations": _escalations(run),
        "cost": f"{run.cost.normalize():f}",
    }


def _counted(steps: QuerySet[Step]) -> dict[str, Any]:
    ended = Q(status__in=[status.value for status in ENDED])
    of_model = Q(kind__in=[kind.value for kind in MODEL_KINDS])
    of_tool = Q(kind=StepKind.TOOL.value)
    wrong = Q(status__in=[StepStatus.FAILED.value, StepStatus.OUTCOME_UNKNOWN.value])
    wrong |= Q(response__is_error=True)
    lasted = ExpressionWrapper(
        F("finished_at") - F("started_at"), output_field=DurationField()
    )
    return steps.aggregate(
        model_calls=Count("pk", filter=ended & of_model),
        tool_calls=Count("pk", filter=ended & of_tool),
        failed=Count("pk", filter=ended & (of_model | of_tool) & wrong),
        average=Avg(lasted, filter=ended & (of_model | of_tool)),
    )


def _elapsed_s(run: Run) -> float:
    return ((run.finished_at or clock.now()) - run.created_at).total_seconds()


def _escalations(run: Run) -> int:
    parks = Transition.objects.filter(run=run, to_state=RunState.AWAITING_HUMAN.value)
    return parks.exclude(reason=TAKEN_BACK).count()
