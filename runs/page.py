"""What the page of one run shows, gathered in a fixed number of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Max

from runs import forking, glance, history, standing, timeline, waterfall
from runs.facts import subject
from runs.models import Attempt, Blob, Effect, Run, Step, Transition
from runs.states import EffectStatus, RunState, StepKind, StepStatus
from runs.tools.base import IRREVERSIBLE, titled

STEPS = 100
MOST_STEPS = 500
MOST_TRANSITIONS = 300
MOST_FORKS = 20
COPIED = "done before the fork"
SERVED = "served from the ledger, not done again"
EFFECTS = {
    EffectStatus.STARTED: ("run", "started, no result yet"),
    EffectStatus.DONE: ("good", "done once"),
    EffectStatus.UNKNOWN: ("bad", "outcome unknown"),
    EffectStatus.NOT_DONE: ("", "did not happen"),
}


def of(run: Run, user: User, first: int | None = None) -> dict[str, Any]:
    """The whole context: as many queries and rows for a long run as for a short one.

    `first` is the step the reader's list begins with, so that it does not lose its
    head while the run goes on; without it the newest `STEPS` are shown.
    """
    state = RunState(run.state)
    steps = newest(run, first)
    last = steps[-1] if steps else None
    tries = _tries(run, steps)
    entries = timeline.entries(steps, tries, state=state, wake_at=run.wake_at)
    of_last = [t for t in tries if last and t.step_number == last.number]
    return {
        "run": run,
        "stamp": glance.stamp(run),
        "title": subject(run.task),
        "chip": standing.chip(run),
        "doing": standing.doing(run, last, of_last),
        "plan": standing.plan_of(run, last),
        "meters": standing.meters(run, last),
        "entries": entries,
        "earlier": steps[0].number if steps and steps[0].number > 1 else 0,
        "picture": waterfall.draw(entries),
        "moves": Moves.of(run),
        "effects": effects(run),
        "forks": list(run.copies.order_by("created_at")[:MOST_FORKS]),
        "may_fork": may_fork(run, user),
        "facts": _facts(run, steps, tries),
        "is_parked": state is RunState.AWAITING_HUMAN,
        "is_final": state.is_final,
        "is_active": state.is_active,
        "may_cancel": not state.is_final and may_cancel(run, user),
        "review": _open_review(run),
        "ended": _ending(run),
        "may_review": user.has_perm("reviews.decide_review"),
    }


def newest(run: Run, first: int | None = None) -> list[Step]:
    """The last `STEPS`, or those from `first` on, up to `MOST_STEPS`; one query."""
    found = run.steps.order_by("-number")
    if first is None:
        return list(found[:STEPS])[::-1]
    return list(found.filter(number__gte=first)[:MOST_STEPS])[::-1]


def earlier(run: Run, before: int | None) -> dict[str, Any]:
    """Up to `STEPS` steps that come before the numbered one."""
    steps = run.steps.order_by("-number")
    if before is not None:
        steps = steps.filter(number__lt=before)
    found = list(steps[: STEPS + 1])
    shown = found[:STEPS][::-1]
    tries = _tries(run, shown)
    return {
        "run": run,
        "title": subject(run.task),
        "is_earlier": True,
        "entries": timeline.entries(shown, tries, state=RunState(run.state)),
        "earlier": shown[0].number if len(found) > STEPS else 0,
    }


def _tries(run: Run, steps: list[Step]) -> list[Attempt]:
    """The failed tries of these steps, which are in order and without gaps."""
    if not steps:
        return []
    numbers = (steps[0].number, steps[-1].number)
    found = Attempt.objects.filter(run=run, step_number__range=numbers)
    return list(found.order_by("step_number", "number"))


def one_step(run: Run, step: Step) -> dict[str, Any]:
    """A step alone, with the exact prompt where it asked a model."""
    tries = _tries(run, [step])
    entry = timeline.entries([step], tries, state=RunState(run.state))[0]
    prompt, problem = _prompt(run, entry)
    return {
        "run": run,
        "title": subject(run.task),
        "entry": entry,
        "prompt": prompt,
        "problem": problem,
    }


def before_fork(run: Run, step: Step) -> dict[str, Any]:
    """What is asked before a run is retried from a step."""
    return {
        "run": run,
        "title": subject(run.task),
        "entry": timeline.entries([step], state=RunState(run.state))[0],
        "before": step.number - 1,
        "is_parked": run.state == RunState.AWAITING_HUMAN,
    }


def may_fork(run: Run, user: User) -> bool:
    return forking.rests(run) and forking.may_fork(run, user)


def _prompt(run: Run, entry: timeline.Entry) -> tuple[list[Any], str]:
    if not entry.has_prompt:
        return [], ""
    try:
        return list(history.prompt_of(run, entry.number)), ""
    except (LookupError, Blob.DoesNotExist) as error:
        return [], f"The prompt of this step cannot be shown: {error}."


def effects(run: Run) -> list[dict[str, Any]]:
    """What its calls did outside, oldest first; one query, two more for a fork."""
    own = Effect.objects.filter(run=run).order_by("started_at")
    served = _served(run) if run.root_id else []
    return [*served, *(_effect(row, row.step_number) for row in own)]


def _effect(row: Effect, step: int, words: str = "") -> dict[str, Any]:
    tone, said = EFFECTS[EffectStatus(row.status)]
    return {
        "row": row,
        "step": step,
        "title": titled(row.tool),
        "icon": timeline.TOOL_ICONS.get(row.tool, "tool"),
        "tone": tone,
        "words": words or said,
    }


def _served(run: Run) -> list[dict[str, Any]]:
    """What another run of the same root did, and this one has the result of."""
    calls = run.steps.filter(
        kind=StepKind.TOOL.value,
        status=StepStatus.SUCCEEDED.value,
        request__effect=IRREVERSIBLE,
    )
    steps = dict(calls.values_list("request__key", "number"))
    others = Effect.objects.filter(root_id=run.root_id, key__in=steps)
    found = [(steps[row.key], row) for row in others.exclude(run=run)]
    return [
        _effect(row, number, COPIED if number < (run.fork_step or 0) else SERVED)
        for number, row in sorted(found, key=lambda one: one[0])
    ]


@dataclass(frozen=True)
class Moves:
    """The transitions of a run, which only grow: the rows are asked for if need be."""

    run: Run
    newest: int
    number: int

    @classmethod
    def of(cls, run: Run) -> Moves:
        """One query."""
        found = run.transitions.aggregate(newest=Max("id"), number=Count("id"))
        return cls(run, found["newest"] or 0, min(found["number"], MOST_TRANSITIONS))

    def rows(self) -> list[Transition]:
        """The newest, oldest first; one query."""
        known = self.run.transitions.filter(id__lte=self.newest)
        return list(known.order_by("-id")[:MOST_TRANSITIONS])[::-1]


def _open_review(run: Run) -> Any:
    """The row of `reviews`, met by its reverse name: runs know nothing above them."""
    if run.state != RunState.AWAITING_HUMAN:
        return None
    waiting = run.reviews.filter(status__in=("open", "expired"), kind="waiting")
    return waiting.order_by("-opened_at").first()


def _ending(run: Run) -> Transition | None:
    """How a run ended that did not complete: who and why."""
    if run.state not in {RunState.ABORTED, RunState.ERROR}:
        return None
    return Transition.objects.filter(run=run).order_by("-id").first()


def _facts(run: Run, steps: list[Step], tries: list[Attempt]) -> dict[str, Any]:
    config, is_whole = run.version.config, len(steps) == run.sequence
    return {
        "model": model_words(config.get("model", ""), steps),
        "check_model": model_words(config.get("check_model", ""), []),
        "waited_s": run.waited_ms / 1000,
        "retries": len(tries) if is_whole else run.attempts.count(),
    }


def model_words(configured: str, steps: list[Step]) -> str:
    """The model's name; the demo model is called what it is."""
    ran = [
        str(step.response.get("model", ""))
        for step in steps
        if step.kind in {StepKind.MODEL, StepKind.PLAN}
        and isinstance(step.response, dict)
    ]
    name = next((name for name in reversed(ran) if name), configured)
    if "demo" in name.lower() or settings.AGENTOPS_PROVIDER == "demo":
        return "demo model"
    return name or "the default"


def may_cancel(run: Run, user: User) -> bool:
    """The submitter, and whoever may decide or see everything."""
    return (
        run.submitter_id == user.pk
        or user.has_perm("reviews.decide_review")
        or user.has_perm("runs.view_all_runs")
    )
