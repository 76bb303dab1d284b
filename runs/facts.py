"""What the planner is given and what it answers: facts and actions. Pure data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from runs.budgets import NOTHING, Reservation, Used
from runs.canonical import Json, shorten
from runs.states import RunState, StepKind
from runs.toolbox import Toolbox
from runs.values import AgentConfig, Park

MAX_TITLE = 110


@dataclass(frozen=True)
class Rules:
    """Numbers a run is held to."""

    max_invalid: int = 3
    max_nudges: int = 1
    max_repeats: int = 3
    context_share: float = 0.8


@dataclass(frozen=True)
class Facts:
    """What is known of a run besides its steps. `tools_bytes`: JSON of the schemas."""

    config: AgentConfig
    task: str
    root_key: str
    state: RunState
    sequence: int
    limits: Mapping[str, Json]
    used: Used
    toolbox: Toolbox
    tools_bytes: int = 0
    was_restored: bool = False
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True)
class NewStep:
    """A step to plan. `request` is stored; `feedback` answers a call at once."""

    kind: StepKind
    state: RunState
    name: str
    request: dict[str, Json]
    digest: str = ""
    plan_item: int | None = None
    reservation: Reservation = NOTHING


@dataclass(frozen=True)
class Finish:
    output: str


Action = NewStep | Park | Finish


def subject(task: str) -> str:
    """The task's first sentence, for titles and headings."""
    line = next((part for part in task.splitlines() if part.strip()), "No task")
    sentence = re.split(r"(?<=[.!?])\s", line.strip(), maxsplit=1)[0]
    return shorten(sentence.strip("# ").rstrip("."), MAX_TITLE)
