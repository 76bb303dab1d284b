"""What must hold of runs, whatever was killed. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from runs.models import Effect, Run, Step, Transition
from runs.states import FINAL, ParkReason, RunState

Count = Callable[[str], int]
SETTLED = {state.value for state in FINAL} | {RunState.AWAITING_HUMAN.value}


def broken(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Of all runs of this database; `counts` is by tool and key, as seen outside."""
    by_key: Counter[str] = Counter()
    for (_, key), number in counts.items():
        by_key[key] += number
    for run in Run.objects.all():
        yield from _of_run(run)
    for effect in Effect.objects.all():
        yield from _of_effect(effect, by_key[effect.key])
    yield from _of_parks()


def _of_run(run: Run) -> Iterator[str]:
    if run.state not in SETTLED:
        yield f"run {run.pk} neither ended nor parked: {run.state}"
    numbers = list(Step.objects.filter(run=run).values_list("number", flat=True))
    if sorted(numbers) != list(range(1, run.sequence + 1)):
        yield f"run {run.pk} has steps {sorted(numbers)}, its sequence is {run.sequence}"
    ends = Transition.objects.filter(run=run, to_state="completed").count()
    if ends != (run.state == "completed"):
        yield f"run {run.pk} is {run.state} and was completed {ends} times"


def _of_effect(effect: Effect, seen: int) -> Iterator[str]:
    """At most once; and once, where the ledger says that it is done."""
    if seen > 1:
        yield f"{effect.tool} of run {effect.run_id} happened {seen} times"
    if seen == 0 and effect.status == "done":
        yield f"{effect.tool} of run {effect.run_id} is done and never happened"
    if seen == 1 and effect.status == "not_done":
        yield f"{effect.tool} of run {effect.run_id} is said not to have happened"


def _of_parks() -> Iterator[str]:
    label = ParkReason.POISON.label
    for move in Transition.objects.filter(reason__startswith=label):
        yield f"run {move.run_id} was parked as poison: {move.reason}"
