"""What must hold of runs, whatever was killed. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from runs.models import Effect, Run, Transition
from runs.states import FINAL, ParkReason, RunState
from tests.support import sound

Count = Callable[[str], int]
SETTLED = {state.value for state in FINAL} | {RunState.AWAITING_HUMAN.value}


def broken(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Of all runs of this database; `counts` is by tool and key, as seen outside."""
    by_key: Counter[str] = Counter()
    for (_, key), number in counts.items():
        by_key[key] += number
    yield from sound.broken()
    for run in Run.objects.exclude(state__in=SETTLED):
        yield f"run {run.pk} neither ended nor parked: {run.state}"
    for effect in Effect.objects.all():
        yield from _of_effect(effect, by_key[effect.key])
    yield from _of_parks()


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
