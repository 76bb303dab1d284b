"""What holds of every run at every moment, read from its rows alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from runs.models import Attempt, Run, Step, Transition
from runs.states import LEGAL, RunState

OPEN = ("planned", "started")
DONE = ("succeeded", "failed", "outcome_unknown")
STEP = (
    *("run_id", "number", "kind", "name", "status", "attempts", "cost"),
    *("input_tokens", "output_tokens", "reserved_tokens", "reserved_cost"),
    *("started_at", "finished_at"),
)
ATTEMPT = (
    *("run_id", "step_number", "number", "cost"),
    *("started_at", "finished_at", "retry_at"),
)
MOVE = ("run_id", "from_state", "to_state")


@dataclass
class Past:
    """A run with what its rows say of it, each kind in its order."""

    run: Run
    steps: list[Any] = field(default_factory=list)
    attempts: list[Any] = field(default_factory=list)
    moves: list[Any] = field(default_factory=list)

    @property
    def own(self) -> list[Any]:
        """Without the steps that a fork has from its original, which paid for them."""
        return [step for step in self.steps if step.number >= (self.run.fork_step or 0)]


def pasts(runs: Collection[Run]) -> list[Past]:
    """Of those runs, in three queries."""
    found = {run.pk: Past(run) for run in runs}
    for row in _plain(Step.objects.order_by("number"), STEP, found):
        found[row.run_id].steps.append(row)
    for row in _plain(Attempt.objects.order_by("pk"), ATTEMPT, found):
        found[row.run_id].attempts.append(row)
    for row in _plain(Transition.objects.order_by("pk"), MOVE, found):
        found[row.run_id].moves.append(row)
    return list(found.values())


def _plain(rows: Any, columns: tuple[str, ...], runs: Collection[UUID]) -> Any:
    """Without what no rule asks for: this is read after every event of a history."""
    if len(runs) < 100:
        rows = rows.filter(run_id__in=runs)
    return rows.values_list(*columns, named=True)


def assert_sound(*runs: Run) -> None:
    """Raises AssertionError naming the run and what is wrong with it."""
    for past in pasts(runs):
        check(past)


def broken() -> Iterator[str]:
    """What is wrong, of all runs of this database."""
    for past in pasts(Run.objects.all()):
        try:
            check(past)
        except AssertionError as error:
            yield str(error)


def check(past: Past) -> None:
    _moves_are_legal(past)
    _steps_are_gapless(past)
    _somebody_goes_on_with_it(past.run)
    _tries_are_counted(past)
    _counters_are_sums(past)


def _moves_are_legal(past: Past) -> None:
    run, state = past.run, RunState.IDLE
    for move in past.moves:
        assert move.from_state == state, f"{run}: a move from {move.from_state}"
        assert RunState(move.to_state) in LEGAL[state], f"{run}: {state} → {move}"
        state = RunState(move.to_state)
    assert run.state == state, f"{run} is {run.state}, its last move says {state}"


def _steps_are_gapless(past: Past) -> None:
    run, numbers = past.run, [step.number for step in past.steps]
    assert numbers == list(range(1, run.sequence + 1)), f"{run}: steps {numbers}"
    left_open = [step.number for step in past.steps if step.status in OPEN]
    state = RunState(run.state)
    if state is RunState.ABORTED:  # what was in flight stays as it was
        assert left_open in ([], [run.sequence]), f"{run}: open steps {left_open}"
    elif state.is_active and state is not RunState.COMPLETING and run.sequence:
        is_new_fork = run.fork_step == run.sequence + 1
        wanted = [] if is_new_fork else [run.sequence]
        assert left_open == wanted, f"{run}: open steps {left_open}"
    else:
        assert not left_open, f"{run}, {run.state}: open steps {left_open}"


def _somebody_goes_on_with_it(run: Run) -> None:
    is_due = run.wake_at is not None
    assert is_due == RunState(run.state).is_active, f"{run}, {run.state}: {run.wake_at}"
    if not is_due:
        lease = run.lease_owner, run.lease_until
        assert lease == ("", None), f"{run} is {run.state} and held: {lease}"


def _tries_are_counted(past: Past) -> None:
    failed: dict[int, list[int]] = defaultdict(list)
    for attempt in past.attempts:
        failed[attempt.step_number].append(attempt.number)
    for step in past.own:
        tries = failed[step.number]
        assert tries == list(range(1, len(tries) + 1)), f"{step}: tries {tries}"
        is_made = step.status not in OPEN and step.attempts > len(tries)
        assert step.attempts == len(tries) + is_made, f"{step}: {step.attempts} tries"


def _counters_are_sums(past: Past) -> None:
    run, own = past.run, past.own
    acts = [step for step in own if step.kind != "decision" and step.status in DONE]
    lost = {step.number: step.reserved_tokens for step in own}
    tokens = sum(step.input_tokens + step.output_tokens for step in own)
    tokens += sum(lost[a.step_number] for a in past.attempts if a.cost)
    assert run.cost == sum((step.cost for step in own), Decimal(0)), f"{run}: cost"
    assert run.tokens == tokens, f"{run}: {run.tokens} tokens, the rows say {tokens}"
    assert run.steps_used == len(acts), f"{run}: {run.steps_used} steps"
    waits = sum((a.retry_at - a.started_at for a in past.attempts), timedelta())
    took = sum((step.finished_at - step.started_at for step in acts), waits)
    off = abs(run.active_ms - took / timedelta(milliseconds=1))
    assert off <= len(past.attempts), f"{run}: active time is off by {off} ms"
