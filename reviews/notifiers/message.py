"""What a message about a review or a failed run says, whatever the channel.

Nothing in it was written by a model or came from outside: no arguments, no tool
results, no question of the agent, no name of a tool that does not exist. So no
message can carry a link but ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from agentops.conf import product
from reviews.models import Notification, Review
from runs.canonical import Json
from runs.models import Run, Step
from runs.states import ParkReason, StepKind, StepStatus
from runs.tools import registry as tools

LAST_CALLS = 5
OPENED, FAILED = "opened", "failed"
"""The events that messages tell of."""

_WHY = {
    ParkReason.LOW_CONFIDENCE: "The check is less sure than this tool needs.",
    ParkReason.REVIEW_RULE: "One of the agent's review rules applies.",
    ParkReason.ALWAYS_ASK: "This tool asks every time.",
    ParkReason.UNTRUSTED_CONTENT: "The agent has read untrusted content before it.",
    ParkReason.REPEATED_CALL: "The agent wants to make the same call again.",
    ParkReason.CHECK_FAILED: "The check of the call gave no usable answer.",
    ParkReason.CHANGED: "Something changed after the call was approved.",
    ParkReason.QUESTION: "The agent asks a question.",
    ParkReason.ESCALATION: "The agent hands the run over to a person.",
    ParkReason.ANSWER: "The check is not sure of the final answer.",
    ParkReason.BUDGET: "The next call does not fit the budget.",
    ParkReason.INVALID_CALLS: "The agent keeps making calls that do not fit.",
    ParkReason.NO_PROGRESS: "The agent goes round in circles.",
    ParkReason.OPEN_PLAN: "The agent stopped with items of its plan left open.",
    ParkReason.RETRIES: "All tries of a step have failed.",
    ParkReason.FATAL: "A step failed for good.",
    ParkReason.REFUSED: "The model declined to go on.",
    ParkReason.CONTEXT: "The conversation no longer fits the model.",
    ParkReason.OUTCOME_UNKNOWN: "Nobody knows whether a call took effect.",
    ParkReason.POISON: "The run has stopped its worker several times.",
}
_OUTCOMES = {
    StepStatus.PLANNED: "waiting",
    StepStatus.STARTED: "started",
    StepStatus.SUCCEEDED: "done",
    StepStatus.FAILED: "failed",
    StepStatus.OUTCOME_UNKNOWN: "outcome unknown",
    StepStatus.SKIPPED: "not done",
}


@dataclass(frozen=True)
class Call:
    name: str
    outcome: str


@dataclass(frozen=True)
class Message:
    """`what` is a verb in words, `calls` are oldest first, `link` is absolute.

    `risk` and `due_at` are those of a review; `does` is what the link is for.
    """

    subject: str
    what: str
    why: str
    reason: str
    agent: str
    submitter: str
    calls: tuple[Call, ...]
    last_error: str
    link: str
    does: str
    after: str
    risk: str = ""
    due_at: datetime | None = None


def of(notification: Notification) -> Message:
    """The message of an outbox row; LookupError if there is nothing to tell of."""
    if notification.review is not None:
        return of_review(notification.review)
    if notification.event == FAILED:
        return of_failure(notification.run)
    raise LookupError(f"{notification.event} needs a review")


def of_review(review: Review) -> Message:
    """A run is parked: somebody has to decide."""
    run = review.run
    due_at = timezone.localtime(review.due_at)
    due = f"{due_at:%H:%M} {due_at.tzname()}"
    reason = ParkReason(review.reason)
    what, label = _what(review), reason.label
    return Message(
        subject=f"{what}: {label.lower()}, {review.risk} risk, due {due}",
        what=what,
        why=_why(review, reason),
        reason=label,
        agent=run.agent.name,
        submitter=run.submitter.get_username(),
        calls=_last_calls(run),
        last_error=_last_error(review),
        link=_link("reviews:detail", review.pk),
        does="Look at it and decide",
        after="Nothing happens until somebody decides on that page."
        " Opening it decides nothing.",
        risk=review.risk,
        due_at=due_at,
    )


def of_failure(run: Run) -> Message:
    """A run ended with an error, and no decision can bring it back."""
    name = run.agent.name
    return Message(
        subject=f"{name}: a run failed",
        what="A run failed",
        why="It ended without a result, and no decision can bring it back.",
        reason="Failed",
        agent=name,
        submitter=run.submitter.get_username(),
        calls=_last_calls(run),
        last_error=_last_failure(run),
        link=_link("runs:detail", run.pk),
        does="Look at what happened",
        after="Its effects stay as they are; the same task can be submitted again.",
    )


def _link(name: str, pk: UUID) -> str:
    return product().base_url.rstrip("/") + reverse(name, args=[pk])


def _what(review: Review) -> str:
    if not review.proposal:
        return "Decide on a parked run"
    return _tool_words(review.proposal["tool"])


def _why(review: Review, reason: ParkReason) -> str:
    """The reason with its figures: those we measured and the admin's own rules."""
    figures = review.detail.get("figures", {})
    said = [_WHY[reason]]
    if "confidence" in figures and "threshold" in figures:
        stated, needed = _percent(figures["confidence"]), _percent(figures["threshold"])
        said.append(f"Stated {stated}, needed {needed}.")
    if "budget" in figures:
        said.append(f"{figures.get('used')} of {figures.get('limit')} used.")
    rules = review.run.version.config.get("review_when", [])
    said += [f"Rule: {rule}." for rule in rules if rule in figures.get("rules", [])]
    return " ".join(said)


def _percent(share: Json) -> str:
    return f"{float(share) * 100:.0f} %"


def _tool_words(name: str) -> str:
    """A tool's own title: a model can call what does not exist, by any name."""
    try:
        return tools.get(name).title
    except KeyError:
        return "Unknown tool"


def _last_calls(run: Run) -> tuple[Call, ...]:
    steps = run.steps.filter(kind=StepKind.TOOL.value).order_by("-number")
    return tuple(
        Call(_tool_words(step.name), _outcome(step))
        for step in reversed(steps[:LAST_CALLS])
    )


def _outcome(step: Step) -> str:
    words = _OUTCOMES[StepStatus(step.status)]
    if step.error_class:
        return f"{words} ({step.error_class})"
    response: Any = step.response
    is_error = isinstance(response, dict) and response.get("is_error")
    return "answered with an error" if is_error else words


def _last_error(review: Review) -> str:
    error: Json = review.detail.get("error")
    if error:
        return str(error.get("class", ""))
    return _last_failure(review.run)


def _last_failure(run: Run) -> str:
    failed = run.steps.exclude(error_class="").order_by("-number")
    return failed.values_list("error_class", flat=True).first() or ""
