"""A run's history from its rows: the opening, the steps, the exact prompts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

from agentops.conf import product
from runs import confidence, conversation, planning
from runs.budgets import Used
from runs.canonical import Json, digest, dumps, size
from runs.conversation import Message
from runs.facts import Facts, Rules
from runs.models import AgentVersion, Blob, Run, Step
from runs.policy import Live
from runs.progress import Progress
from runs.states import RunState, StepKind, StepStatus
from runs.values import AgentConfig, StepValue

COLUMNS = (
    "number",
    "kind",
    "status",
    "name",
    "request",
    "response",
    "error_class",
    "error_text",
    "plan_item",
    "attempts",
    "input_tokens",
    "reserved_tokens",
    "reserved_cost",
)


# Runs of one version share what it says, for as long as any of them is held.
_configs: WeakValueDictionary[str, AgentConfig] = WeakValueDictionary()


@dataclass(frozen=True)
class Opening:
    """What a run froze when it started."""

    config: AgentConfig
    messages: Sequence[Message]
    tools: Sequence[Json]
    tools_bytes: int


def opening(run: Run) -> Opening:
    """One query for each text not seen in this process before."""
    return Opening(
        config=_config(run.version),
        messages=conversation.opening(blob(run.system_digest), run.task, run.guidance),
        tools=blob(run.tools_digest),
        tools_bytes=_size(run.tools_digest),
    )


def _config(version: AgentVersion) -> AgentConfig:
    config = _configs.get(version.digest)
    if config is None:
        config = _configs[version.digest] = AgentConfig.of(version.config)
    return config


def steps(run: Run, before: int | None = None) -> list[StepValue]:
    """All steps in order, or those before a number. One query."""
    rows = Step.objects.filter(run_id=run.id).order_by("number").values(*COLUMNS)
    if before is not None:
        rows = rows.filter(number__lt=before)
    return [_value(row) for row in rows]


def steps_of(run_ids: Collection[UUID]) -> dict[UUID, list[StepValue]]:
    """The steps of many runs, each in order. At most one query."""
    found: dict[UUID, list[StepValue]] = {}
    if run_ids:
        rows = Step.objects.filter(run_id__in=run_ids).order_by("number")
        for row in rows.values("run_id", *COLUMNS):
            found.setdefault(row.pop("run_id"), []).append(_value(row))
    return found


def _value(row: dict[str, Any]) -> StepValue:
    return StepValue(
        **{
            **row,
            "kind": StepKind(row["kind"]),
            "status": StepStatus(row["status"]),
        }
    )


def facts(run: Run, opened: Opening, live: Live) -> Facts:
    """What the planner is told of a run, from its row."""
    return Facts(
        config=opened.config,
        task=run.task,
        root_key=run.root_key,
        state=RunState(run.state),
        sequence=run.sequence,
        limits=run.limits,
        used=Used(run.steps_used, run.active_ms / 1000, run.cost, run.tokens),
        toolbox=live.toolbox(opened.config),
        tools_bytes=opened.tools_bytes,
        was_restored=run.restored_at is not None,
        rules=rules(),
    )


def rules() -> Rules:
    numbers = product()
    return Rules(
        max_invalid=numbers.max_invalid_in_a_row,
        max_nudges=numbers.max_nudges,
        max_repeats=numbers.max_repeats,
        context_share=numbers.context_share,
    )


def prompt_of(run: Run, number: int) -> list[Message]:
    """The exact messages the model was sent at a plan, model or check step.

    Raises `LookupError` for other steps, and where the rebuilt prompt does not
    match the digest stored when it was sent.
    """
    step = Step.objects.get(run_id=run.id, number=number)
    kind = StepKind(step.kind)
    opened = opening(run)
    progress = Progress.of(opened.messages, steps(run, before=number))
    if kind is StepKind.CHECK:
        messages = planning.check_messages(
            opened.config, run.task, step.request, progress
        )
        return _proved(messages, digest(messages), step)
    if kind not in {StepKind.PLAN, StepKind.MODEL}:
        raise LookupError(f"step {number} sent no prompt")
    messages = list(progress.messages)
    if kind is StepKind.PLAN:
        messages.append(conversation.user(conversation.PLAN_INSTRUCTION))
    return _proved(messages, progress.chain, step)


def schema_of(kind: StepKind) -> dict[str, Json] | None:
    """The shape asked for, where an answer has to be JSON."""
    shapes = {
        StepKind.PLAN: conversation.PLAN_SCHEMA,
        StepKind.CHECK: confidence.SCHEMA,
    }
    return shapes.get(kind)


def _proved(messages: list[Message], found: str, step: Step) -> list[Message]:
    if found != step.digest:
        raise LookupError(f"the prompt of step {step.number} cannot be proved")
    return messages


def keep(content: Json) -> Blob:
    """The row for a large text, not saved yet."""
    return Blob(digest=digest(content), content=content)


@lru_cache(maxsize=256)
def blob(name: str) -> Any:
    """A blob's content; blobs never change, so a process reads each once."""
    return Blob.objects.get(digest=name).content


@lru_cache(maxsize=256)
def _size(name: str) -> int:
    return size(dumps(blob(name)))
