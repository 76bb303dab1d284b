"""Taking a run forward: decide, act once, record.

A driver holds a run (`open`), asks what is to be done (`proceed`), hands the work to
an I/O thread after `begin`, and gives back what came of it (`record`), which answers
with the next work or a `Rest`. All four run in the loop's thread; every commit is
fenced by lease and sequence, and `LeaseLost` means: drop the run, say nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from agentops import clock, log
from agentops.conf import product
from runs import budgets, recording, results
from runs.errors import InvalidCall, LeaseLost, OutcomeUnknown, StepError
from runs.facts import subject
from runs.following import finish, go_on, park
from runs.held import Held, delta_of, load, load_all, result_of, settled, take
from runs.models import Effect
from runs.records import RESTORE, Delta, started
from runs.repeating import doubted, to_repeat, wait
from runs.results import Recorded
from runs.states import EffectStatus, ParkReason, RunState, StepStatus
from runs.values import Park, StepValue
from runs.work import Give, Outcome, Raise, Rest, Work
from runs.working import work_for, work_to_reconcile

logger = logging.getLogger(__name__)

__all__ = [
    "Held",
    "begin",
    "open",
    "open_all",
    "park_poison",
    "proceed",
    "record",
    "rejoin",
    "reopen",
]

open = load  # noqa: A001 - as one opens a file
open_all = load_all

_SKIPPED = Recorded(StepStatus.SKIPPED)
_IN_DOUBT = Recorded(
    StepStatus.OUTCOME_UNKNOWN,
    error_class=OutcomeUnknown.error_class,
    error_text="The process that ran it ended, again and again.",
)


def reopen(held: Held) -> Held:
    """The run as it stands, after a commit that was or was not made: the connection
    was lost. Raises `LeaseLost` if the run was, too."""
    with _keeping_late(held):
        return load(held.run_id, held.owner)


def rejoin(held: Held, anew: Held | None) -> Held:
    """With what to record an act that was in flight while its run was another's.

    As the run is now, tries and costs of the other included, if the step is still to
    be done; else as it was, so that what comes of the act is kept as late.
    """
    if anew is None or anew.current is None or held.current is None:
        return held
    return anew if anew.current.number == held.current.number else held


def proceed(held: Held) -> Work | Rest:
    """What is to be done for a run just opened; may commit. Raises `LeaseLost`."""
    step = held.current
    if held.facts.state is RunState.COMPLETING:
        return finish(held, held.run.output, None, clock.now())
    if step is None:
        return go_on(held, None, clock.now())
    if step.status is StepStatus.STARTED:
        return _after_interruption(held, step)
    if step.attempts and _over_budget(held, step):
        return _skip(held, step, "budget", "The budget was reached while it waited.")
    return work_for(held, step)


def begin(held: Held, work: Work) -> Work | Rest:
    """Right before the act: the last look, and `started` for an irreversible one.

    A drain, a budget stop or a kill up to here leaves the step `planned`. Raises
    `LeaseLost`; may answer with other work, or a `Rest` if the run parked instead.
    """
    step = held.current
    if step is None or not _is_planned_call(step):
        return work
    held.refresh()
    if not work.is_irreversible and _is_allowed(held, step):
        return work
    changed = _changes(held, step)
    if changed:
        words = f"{', '.join(changed)} of {step.name}"
        return _skip(held, step, "changed", words, {"changed": changed})
    if _over_budget(held, step):
        return _skip(held, step, "budget", "The budget was reached before it ran.")
    effect = started(held.run, step, held.owner, clock.now())
    stands = recording.start_effect(held.fence, effect)
    return _allowed_by(stands, held, work)


def record(held: Held, outcome: Outcome) -> Work | Rest:
    """Write what came of the step and plan the next one, in one commit.

    Raises `LeaseLost`; the result of a step whose run was aborted meanwhile is kept.
    """
    step = held.current
    if step is None or step.number != outcome.step:
        raise LeaseLost
    held.refresh()
    with log.bound(step=step.number, attempt=step.attempts + 1):
        outcome = doubted(step, outcome)
        again = to_repeat(held, step, outcome)
        if again is not None:
            return _wait(held, step, outcome, again)
        return _record(held, step, outcome)


def _record(held: Held, step: StepValue, outcome: Outcome) -> Work | Rest:
    recorded = _recorded(held, step, outcome)
    if recorded.error_class:
        # What the model got wrong it is told, and corrects: nothing to be called for.
        is_invalid = recorded.error_class == InvalidCall.error_class
        logger.log(
            logging.INFO if is_invalid else logging.WARNING,
            "%s failed (%s): %s",
            *(step.name, recorded.error_class, recorded.error_text),
        )
    result = result_of(step, recorded, outcome)
    delta = delta_of(result, outcome)
    held.late = result, delta, settled(step, result)
    take(held, step, recorded, outcome.elapsed_ms)
    with _keeping_late(held):
        return go_on(held, result, outcome.finished_at, delta)


def _wait(held: Held, step: StepValue, outcome: Outcome, error: StepError) -> Rest:
    failed = replace(outcome, value=None, error=error)
    result = result_of(step, _recorded(held, step, failed), failed)
    held.late = result, delta_of(result, failed), settled(step, result)
    with _keeping_late(held):
        return wait(held, step, outcome, error)


@contextmanager
def _keeping_late(held: Held) -> Iterator[None]:
    """What came of the step is evidence even where the run is lost."""
    try:
        yield
    except LeaseLost:
        if held.late is not None:
            recording.keep_late_result(held.fence, *held.late)
        raise


def _recorded(held: Held, step: StepValue, outcome: Outcome) -> Recorded:
    return results.of(
        step,
        outcome.value,
        outcome.error,
        held.facts,
        held.progress,
        product().result_kept_bytes,
    )


def park_poison(run_id: UUID, owner: str) -> None:
    """Park a claimed run that ended its worker again and again; raises `LeaseLost`."""
    held = load(run_id, owner)
    if held.facts.state is RunState.COMPLETING:  # nothing is left that could harm
        finish(held, held.run.output, None, clock.now())
        return
    step = held.current
    why = Park(
        reason=ParkReason.POISON,
        title=subject(held.run.task),
        question="Each time this run goes on alone, the process that runs it ends.",
        step=step.number if step else held.facts.sequence,
        figures={"claims": held.run.claims_alone},
    )
    now = clock.now()
    result, delta = None, Delta()
    if step is not None:
        left = _SKIPPED if step.status is StepStatus.PLANNED else _IN_DOUBT
        result = result_of(step, left, Outcome(step.number, None, None, now, 0))
        delta = Delta(steps=int(left is _IN_DOUBT))
        take(held, step, left, 0)
    park(held, why, result, now, delta)


# ---- irreversible acts


def _after_interruption(held: Held, step: StepValue) -> Work | Rest:
    """Started, no result: ask the tool, else a person."""
    work = work_to_reconcile(held, step)
    if work is not None:
        return work
    unknown = OutcomeUnknown(_left_by(step))
    return record(held, Outcome(step.number, None, unknown, clock.now(), 0))


def _left_by(step: StepValue) -> str:
    key = (step.request or {}).get("key", "")
    if Effect.objects.filter(key=key, owner=RESTORE).exists():
        return "It was about to run when the backup was taken that was restored."
    return "The process that ran it ended before it could tell."


def _is_planned_call(step: StepValue) -> bool:
    """A tool's call that is about to be made; not one whose outcome is asked for."""
    return step.status is StepStatus.PLANNED and "seal" in (step.request or {})


def _is_allowed(held: Held, step: StepValue) -> bool:
    return step.name in held.facts.toolbox.allowed


def _changes(held: Held, step: StepValue) -> list[str]:
    """What of the call's seal no longer holds."""
    request = step.request or {}
    if not _is_allowed(held, step):
        return ["permission"]
    now = held.facts.toolbox.tools[step.name].seal(request["arguments"])
    return sorted(name for name, was in request["seal"].items() if now[name] != was)


def _over_budget(held: Held, step: StepValue) -> bool:
    need = budgets.Reservation(step.reserved_cost, step.reserved_tokens)
    return budgets.breach(held.facts.limits, held.facts.used, need) is not None


def _skip(
    held: Held,
    step: StepValue,
    error_class: str,
    words: str,
    response: dict[str, Any] | None = None,
) -> Work | Rest:
    """Leave a planned step undone and decide anew, which parks the run."""
    recorded = Recorded(StepStatus.SKIPPED, response or {}, error_class, words)
    now = clock.now()
    result = result_of(step, recorded, Outcome(step.number, None, None, now, 0))
    take(held, step, recorded, 0)
    return go_on(held, result, now)


def _allowed_by(stands: Effect, held: Held, work: Work) -> Work:
    """The work itself, or what the ledger says instead of it."""
    if stands.status == EffectStatus.DONE.value:
        return replace(work, act=Give(stands.result))
    mine = (held.owner, held.run_id, work.step)
    if (stands.owner, stands.run_id, stands.step_number) == mine:
        return work
    unknown = OutcomeUnknown("An earlier start of the same call never told its result.")
    return replace(work, act=Raise(unknown))
