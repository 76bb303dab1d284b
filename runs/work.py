"""What an I/O thread is handed: one act, and what came of it.

Nothing here touches our tables or decides anything; `perform` never raises.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from agentops import clock, log, redaction
from runs import hiding, points
from runs.canonical import Json
from runs.classify import classify
from runs.errors import OutcomeUnknown, StepError
from runs.llm.base import Request
from runs.llm.registry import client_for
from runs.tools import perform as tools
from runs.tools.base import Arguments, Context, Deadline, ToolSpec

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outcome:
    """What an act came to: a value or an error, when, and how long it took."""

    step: int
    value: Any
    error: StepError | None
    started_at: datetime
    elapsed_ms: int

    @property
    def finished_at(self) -> datetime:
        return self.started_at + timedelta(milliseconds=self.elapsed_ms)


@dataclass(frozen=True)
class Work:
    """One act of one step. `is_droppable`: it may be given up and done again."""

    run_id: UUID
    step: int
    attempt: int
    act: Callable[[], Any]
    deadline_s: float
    is_droppable: bool = True
    is_irreversible: bool = False

    def perform(self) -> Outcome:
        started_at, begun = clock.now(), time.perf_counter()
        value, error = None, None
        with log.bound(run=self.run_id, step=self.step, attempt=self.attempt):
            points.reach("before act")
            try:
                value = self.act()
            except StepError as caught:
                error = caught
            except Exception as caught:
                logger.exception("the act failed in a way nobody foresaw")
                error = self._unforeseen(caught)
            points.reach("after act")
            value, error = _without_secrets(value, error)
        elapsed_ms = round((time.perf_counter() - begun) * 1000)
        return Outcome(self.step, value, error, started_at, elapsed_ms)

    def _unforeseen(self, error: Exception) -> StepError:
        """Nobody knows how far an irreversible act came."""
        known = classify(error)
        return OutcomeUnknown(known.message) if self.is_irreversible else known


def _without_secrets(
    value: Any, error: StepError | None
) -> tuple[Any, StepError | None]:
    with redaction.counted() as hidden:
        kept = hiding.value(value), error and hiding.error(error)
    if hidden:
        logger.warning("hidden in what came back: %s", redaction.in_words(hidden))
    return kept


@dataclass(frozen=True)
class Rest:
    """The run is out of this driver's hands; `wake_at` is when it is due again."""

    wake_at: datetime | None = None


@dataclass(frozen=True)
class AskModel:
    request: Request

    def __call__(self) -> Any:
        return client_for(self.request.model).complete(self.request)


@dataclass(frozen=True)
class CallTool:
    spec: ToolSpec
    arguments: Arguments
    context: Callable[[Deadline], Context]
    timeout_s: float
    is_irreversible: bool = True

    def __call__(self) -> Json:
        context = self.context(Deadline.after(self.timeout_s))
        return tools.perform(
            self.spec, self.arguments, context, was_irreversible=self.is_irreversible
        )


@dataclass(frozen=True)
class Reconcile(CallTool):
    """Find out whether a call that was started took effect."""

    def __call__(self) -> Any:
        context = self.context(Deadline.after(self.timeout_s))
        return tools.reconcile(self.spec, self.arguments, context)


@dataclass(frozen=True)
class Raise:
    """An act that is known to fail before it is tried."""

    error: StepError

    def __call__(self) -> Any:
        raise self.error


@dataclass(frozen=True)
class Give:
    """An act whose result is known already."""

    value: Any

    def __call__(self) -> Any:
        return self.value
