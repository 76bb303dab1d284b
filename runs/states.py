"""The states of a run, the legal moves between them, and the words for each.

One table says what may follow what; `check` is asked before every change of
state, and the database carries the same list as a constraint.
"""

from __future__ import annotations

from enum import StrEnum

from runs.errors import IllegalTransition


class RunState(StrEnum):
    IDLE = "idle"
    PLANNING = "planning"
    EXECUTING = "executing"
    OBSERVING = "observing"
    AWAITING_HUMAN = "awaiting_human"
    COMPLETING = "completing"
    COMPLETED = "completed"
    ERROR = "error"
    ABORTED = "aborted"

    @property
    def label(self) -> str:
        return "parked" if self is RunState.AWAITING_HUMAN else self.value

    @property
    def is_final(self) -> bool:
        return self in FINAL

    @property
    def is_active(self) -> bool:
        """A driver may have something to do for a run in this state."""
        return self in ACTIVE


FINAL = frozenset({RunState.COMPLETED, RunState.ERROR, RunState.ABORTED})
ACTIVE = frozenset(
    {
        RunState.IDLE,
        RunState.PLANNING,
        RunState.EXECUTING,
        RunState.OBSERVING,
        RunState.COMPLETING,
    }
)

_STOPS = frozenset({RunState.AWAITING_HUMAN, RunState.ERROR, RunState.ABORTED})

LEGAL: dict[RunState, frozenset[RunState]] = {
    RunState.IDLE: _STOPS | {RunState.PLANNING, RunState.EXECUTING},
    RunState.PLANNING: _STOPS | {RunState.EXECUTING},
    RunState.EXECUTING: _STOPS
    | {RunState.OBSERVING, RunState.PLANNING, RunState.COMPLETING},
    RunState.OBSERVING: _STOPS
    | {RunState.EXECUTING, RunState.PLANNING, RunState.COMPLETING},
    RunState.AWAITING_HUMAN: frozenset(
        {
            RunState.PLANNING,
            RunState.EXECUTING,
            RunState.OBSERVING,
            RunState.COMPLETING,
            RunState.ABORTED,
            RunState.ERROR,
        }
    ),
    RunState.COMPLETING: frozenset({RunState.COMPLETED, RunState.ERROR}),
    RunState.COMPLETED: frozenset(),
    RunState.ERROR: frozenset(),
    RunState.ABORTED: frozenset(),
}


def check(old: RunState, new: RunState) -> None:
    """Raise `IllegalTransition` unless a run may go from `old` to `new`."""
    if new not in LEGAL[old]:
        raise IllegalTransition(f"a run cannot go from {old} to {new}")


class StepKind(StrEnum):
    PLAN = "plan"
    MODEL = "model"
    TOOL = "tool"
    CHECK = "check"
    DECISION = "decision"
    COMPACTION = "compaction"


class StepStatus(StrEnum):
    PLANNED = "planned"
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    SKIPPED = "skipped"

    @property
    def is_open(self) -> bool:
        return self in {StepStatus.PLANNED, StepStatus.STARTED}


class EffectStatus(StrEnum):
    STARTED = "started"
    DONE = "done"
    UNKNOWN = "unknown"
    NOT_DONE = "not_done"


class ParkReason(StrEnum):
    """Why a run waits for a person; `label` is what people read."""

    LOW_CONFIDENCE = "low_confidence"
    REVIEW_RULE = "review_rule"
    ALWAYS_ASK = "always_ask"
    UNTRUSTED_CONTENT = "untrusted_content"
    REPEATED_CALL = "repeated_call"
    RESTORED = "restored"
    CHECK_FAILED = "check_failed"
    CHANGED = "changed"
    QUESTION = "question"
    ESCALATION = "escalation"
    ANSWER = "answer"
    BUDGET = "budget"
    INVALID_CALLS = "invalid_calls"
    NO_PROGRESS = "no_progress"
    OPEN_PLAN = "open_plan"
    RETRIES = "retries"
    FATAL = "fatal"
    REFUSED = "refused"
    CONTEXT = "context"
    OUTCOME_UNKNOWN = "outcome_unknown"
    POISON = "poison"

    @property
    def label(self) -> str:
        return _PARK_LABELS[self]


_PARK_LABELS = {
    ParkReason.LOW_CONFIDENCE: "Low confidence",
    ParkReason.REVIEW_RULE: "Review rule",
    ParkReason.ALWAYS_ASK: "Always asks",
    ParkReason.UNTRUSTED_CONTENT: "Untrusted content",
    ParkReason.REPEATED_CALL: "Same call again",
    ParkReason.RESTORED: "Backup restored",
    ParkReason.CHECK_FAILED: "Check failed",
    ParkReason.CHANGED: "Changed since",
    ParkReason.QUESTION: "Question",
    ParkReason.ESCALATION: "Escalation",
    ParkReason.ANSWER: "Unsure answer",
    ParkReason.BUDGET: "Budget",
    ParkReason.INVALID_CALLS: "Invalid calls",
    ParkReason.NO_PROGRESS: "No progress",
    ParkReason.OPEN_PLAN: "Plan left open",
    ParkReason.RETRIES: "Retries used up",
    ParkReason.FATAL: "Error",
    ParkReason.REFUSED: "Model refused",
    ParkReason.CONTEXT: "Context too long",
    ParkReason.OUTCOME_UNKNOWN: "Outcome unknown",
    ParkReason.POISON: "Stops its worker",
}


def choices(kinds: type[StrEnum]) -> list[tuple[str, str]]:
    """(value, words) pairs of an enum for a model field or a form."""
    return [
        (kind.value, getattr(kind, "label", kind.value.replace("_", " ")))
        for kind in kinds
    ]
