"""The values that pass between planner, engine, driver and services.

Plain frozen data, no rows and no Django: what the pure parts work on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from runs.canonical import Json
from runs.states import ParkReason, RunState, StepKind, StepStatus


class Policy(StrEnum):
    """How a tool may be used; later ones are stricter."""

    AUTO = "auto"
    ASK_BELOW = "ask_below"
    ALWAYS = "always"
    BLOCKED = "blocked"

    @property
    def strictness(self) -> int:
        return list(Policy).index(self)


@dataclass(frozen=True)
class Grant:
    """What an agent may do with a tool.

    `settings` are laid over those of the tool, for this agent's calls alone.
    """

    policy: Policy = Policy.ASK_BELOW
    threshold: Decimal | None = None
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class AgentConfig:
    """An agent version's configuration, as runs freeze it."""

    name: str
    prompt: str
    model: str
    check_model: str
    max_output_tokens: int
    context_window: int
    plan_first: bool
    grants: Mapping[str, Grant]
    threshold: Decimal
    review_when: tuple[str, ...]
    check_answer: bool
    has_reviewer: bool

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> AgentConfig:
        """From the JSON of an `AgentVersion`."""
        return cls(
            name=config["name"],
            prompt=config["prompt"],
            model=config["model"],
            check_model=config["check_model"],
            max_output_tokens=config["max_output_tokens"],
            context_window=config["context_window"],
            plan_first=config["plan_first"],
            grants={name: _grant(row) for name, row in config["grants"].items()},
            threshold=Decimal(config["threshold"]),
            review_when=tuple(config["review_when"]),
            check_answer=config["check_answer"],
            has_reviewer=config["has_reviewer"],
        )


def _grant(row: Mapping[str, Any]) -> Grant:
    threshold = row.get("threshold")
    return Grant(
        policy=Policy(row.get("policy", Policy.ASK_BELOW)),
        threshold=None if threshold is None else Decimal(str(threshold)),
        settings=dict(row.get("settings") or {}),
    )


@dataclass(frozen=True)
class StepValue:
    """A step as the planner sees it: `request` and `response` as stored."""

    number: int
    kind: StepKind
    status: StepStatus
    name: str = ""
    request: Json = None
    response: Json = None
    error_class: str = ""
    error_text: str = ""
    plan_item: int | None = None
    attempts: int = 0
    input_tokens: int = 0
    reserved_tokens: int = 0
    reserved_cost: Decimal = Decimal(0)


class VerdictKind(StrEnum):
    """What a person's decision means to the run."""

    APPROVE = "approve"
    REJECT = "reject"
    GUIDE = "guide"
    ANSWER = "answer"
    RETRY = "retry"
    OUTCOME = "outcome"
    TOP_UP = "top_up"
    SUPPLY = "supply"
    PLAN = "plan"
    GO_ON = "go_on"
    FORK = "fork"
    ABORT = "abort"


@dataclass(frozen=True)
class Verdict:
    """A decision as the run takes it.

    approve: `arguments` (edited, or None as proposed), `note` for the agent
    reject: `text` is the reason, read by the model as the result of its call
    guide, answer: `text`
    outcome: `happened`, and `result` if it did
    top_up: `limits`, the new limits by kind
    supply: `result`, of a call that a person has carried out by hand
    fork: `text` names the run that goes on instead; this one ends
    plan: `plan`, the items the run has from now on, and `text`, why
    go_on: nobody answered in time; `text` is a word with it, if any
    retry, abort: `text` is the reason, if any
    """

    kind: VerdictKind
    text: str = ""
    note: str = ""
    arguments: Mapping[str, Json] | None = None
    happened: bool | None = None
    result: Json = None
    limits: Mapping[str, Json] = field(default_factory=dict)
    plan: Sequence[Mapping[str, Json]] = ()


@dataclass(frozen=True)
class RunChange:
    """What the signal `run_changed` tells: one change of a run's state.

    `park` is `Run.park` when the run parked, else None. `actor` is the name of the
    worker or person, `by` the person's id.
    """

    run_id: Any
    from_state: RunState
    to_state: RunState
    reason: str
    actor: str
    at: datetime
    park: Mapping[str, Json] | None = None
    by: int | None = None


@dataclass(frozen=True)
class ProposedCall:
    """A tool call as it would run, sealed.

    `digest` is of tool and arguments, `key` the idempotency key, `title` says verb
    and object in words.
    """

    id: str
    tool: str
    arguments: Mapping[str, Json]
    digest: str
    key: str
    effect: str
    occurrence: int
    title: str

    def as_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "digest": self.digest,
            "key": self.key,
            "effect": self.effect,
            "occurrence": self.occurrence,
            "title": self.title,
        }


@dataclass(frozen=True)
class Park:
    """Why a run waits, for `Run.park` and the review that opens on it.

    `step` is the number of the step it is about, `question` one sentence with the
    actual values, `figures` those values by name, `error` {"class", "text"}.
    """

    reason: ParkReason
    title: str
    question: str
    step: int
    call: ProposedCall | None = None
    figures: Mapping[str, Json] = field(default_factory=dict)
    error: Mapping[str, str] | None = None
    reasoning: str = ""
    seal: Mapping[str, str] = field(default_factory=dict)
    terms: Mapping[str, Json] = field(default_factory=dict)

    def as_json(self) -> dict[str, Json]:
        return {
            "reason": self.reason.value,
            "title": self.title,
            "question": self.question,
            "step": self.step,
            "call": self.call.as_json() if self.call else None,
            "figures": dict(self.figures),
            "error": dict(self.error) if self.error else None,
            "reasoning": self.reasoning,
            "seal": dict(self.seal),
            "terms": dict(self.terms),
        }
