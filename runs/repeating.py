"""Trying a step again: when, and letting go of the run until then."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from math import inf

from agentops.conf import product
from runs import backoff, budgets, leases, recording
from runs.canonical import clean_text, shorten
from runs.errors import NotSent, StepError, Transient
from runs.held import Held
from runs.models import Attempt, Effect
from runs.records import Delta
from runs.states import StepKind
from runs.tools.base import IRREVERSIBLE, Reconciled, Reconciliation
from runs.values import StepValue
from runs.work import Outcome, Rest

logger = logging.getLogger(__name__)


def doubted(step: StepValue, outcome: Outcome) -> Outcome:
    """The outcome; but that a call did not happen is believed only once whoever
    started it is known to be dead, for else it may happen yet."""
    found = outcome.value
    if not isinstance(found, Reconciliation):
        return outcome
    if found.outcome is not Reconciled.NOT_HAPPENED:
        return outcome
    effect = Effect.objects.filter(key=(step.request or {}).get("key", "")).first()
    if effect is None or leases.is_dead(effect.owner):
        return outcome
    words = "It has not happened so far, but what started it may still be alive."
    return replace(outcome, value=Reconciliation(Reconciled.UNKNOWN, evidence=words))


def to_repeat(held: Held, step: StepValue, outcome: Outcome) -> StepError | None:
    """The error for which this step is to be tried again, or None."""
    found = outcome.value
    if isinstance(found, Reconciliation):
        if found.outcome is Reconciled.NOT_HAPPENED:
            return NotSent(found.evidence or "It was started and did not happen.")
        return None
    error = outcome.error
    if not isinstance(error, Transient) or step.attempts + 1 >= _attempts(held, step):
        return None
    is_act = (step.request or {}).get("effect") == IRREVERSIBLE
    return error if not is_act or isinstance(error, NotSent) else None


def _attempts(held: Held, step: StepValue) -> int:
    offered = held.facts.toolbox.tools.get(step.name)
    if step.kind is StepKind.TOOL and offered is not None:
        return offered.attempts
    return product().max_attempts


def _time_left(held: Held, outcome: Outcome) -> float:
    """No longer than the run's active time lasts: then it parks, not sleeps."""
    limit = budgets.limit_of(held.facts.limits, budgets.KINDS["seconds"])
    used = held.facts.used.seconds + outcome.elapsed_ms / 1000
    return inf if limit is None else max(0.0, float(limit) - used)


def wait(held: Held, step: StepValue, outcome: Outcome, error: StepError) -> Rest:
    """Let go of the run until the step is to be tried again."""
    now = outcome.finished_at
    seconds = 0.0
    if not isinstance(outcome.value, Reconciliation):
        asked = getattr(error, "retry_after", None)
        seconds = backoff.seconds(step.attempts + 1, asked)
        seconds = min(seconds, _time_left(held, outcome))
    billed = getattr(error, "maybe_billed", False)
    attempt = Attempt(
        run_id=held.run_id,
        step_number=step.number,
        number=step.attempts + 1,
        error_class=error.known_class,
        error_text=shorten(clean_text(error.message), 2000),
        cost=step.reserved_cost if billed else 0,
        started_at=outcome.started_at,
        finished_at=now,
        retry_at=now + timedelta(seconds=seconds),
    )
    delta = Delta(
        active_ms=outcome.elapsed_ms + round(seconds * 1000),
        tokens=step.reserved_tokens if billed else 0,
        cost=attempt.cost,
        is_estimated=billed,
    )
    recording.retry(held.fence, attempt, delta)
    logger.info("tried in vain (%s), again in %.1f s", error.known_class, seconds)
    return Rest(attempt.retry_at)
