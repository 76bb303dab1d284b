"""The words of messages: what a run wants, why, and what it did last.

Three of them are not ours: the object of a call ("to ana@example.com"), the name of
an agent, and a rule that an admin wrote. Each is one line, shows its invisible
characters, and holds nothing a client makes a link of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from agentops.conf import product
from reviews.models import Review
from runs.canonical import Json, shorten
from runs.models import Run, Step
from runs.states import ParkReason, StepKind, StepStatus
from runs.tools import registry as tools
from runs.tools.base import Effect, ToolSpec
from runs.words import plainly

LAST_CALLS = 5
MAX_OBJECT = 120
MAX_RULE = 500
_MAILBOX = re.compile(r"[\w.+-]+@[\w.-]+[,;]?")
_DOT = re.compile(r"(?<=\w)\.(?=[^\W\d])")

WHY = {
    ParkReason.LOW_CONFIDENCE: "The check is less sure than this tool needs.",
    ParkReason.REVIEW_RULE: "One of the agent's review rules applies.",
    ParkReason.ALWAYS_ASK: "This tool asks every time.",
    ParkReason.UNTRUSTED_CONTENT: "The agent has read untrusted content before it.",
    ParkReason.REPEATED_CALL: "The agent wants to make the same call again.",
    ParkReason.RESTORED: "A backup was restored, so it may have happened already.",
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


def what(review: Review) -> str:
    """Verb and object, on one line."""
    if not review.proposal:
        return "Decide on a parked run"
    verb = _tool_words(review.proposal["tool"])
    if not _names_object(review):
        return verb
    title = harmless(review.title)
    return title if title.startswith(verb) else f"{verb}: {title}"


def agent(run: Run) -> str:
    return harmless(run.agent.name)


def harmless(text: str, most: int = MAX_OBJECT) -> str:
    """Foreign words on one line that no client makes a link or a command of."""
    line = plainly(" ".join(text.split()))
    return shorten(" ".join(map(_unlinked, line.split(" "))), most)


def _unlinked(word: str) -> str:
    """An e-mail address may stay one; what looks like a page's address may not."""
    if _MAILBOX.fullmatch(word):
        return word
    return _DOT.sub("[.]", word.replace("://", "[:]//"))


def _names_object(review: Review) -> bool:
    """Only of an act: what asks or reads has the words of a model for its object."""
    if review.proposal.get("effect") == Effect.READ.value:
        return False
    return _spec(review.proposal["tool"]) is not None and product().notify_titles


def why(review: Review, reason: ParkReason) -> str:
    """The reason with its figures: those we measured and the admin's own rules."""
    figures = review.detail.get("figures", {})
    said = [WHY[reason]]
    if "confidence" in figures and "threshold" in figures:
        stated, needed = _percent(figures["confidence"]), _percent(figures["threshold"])
        said.append(f"Stated {stated}, needed {needed}.")
    if "budget" in figures:
        said.append(f"{figures.get('used')} of {figures.get('limit')} used.")
    rules = review.run.version.config.get("review_when", [])
    applied = [rule for rule in rules if rule in figures.get("rules", [])]
    said += [f"Rule: {harmless(rule, MAX_RULE)}." for rule in applied]
    return " ".join(said)


def _percent(share: Json) -> str:
    return f"{float(share) * 100:.0f} %"


def _tool_words(name: str) -> str:
    """A tool's own title: a model can call what does not exist, by any name."""
    spec = _spec(name)
    return spec.title if spec else "Unknown tool"


def _spec(name: str) -> ToolSpec | None:
    try:
        return tools.get(name)
    except KeyError:
        return None


def last_calls(run: Run) -> tuple[Call, ...]:
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


def last_error(review: Review) -> str:
    error: Json = review.detail.get("error")
    if error:
        return str(error.get("class", ""))
    return last_failure(review.run)


def last_failure(run: Run) -> str:
    failed = run.steps.exclude(error_class="").order_by("-number")
    return failed.values_list("error_class", flat=True).first() or ""
