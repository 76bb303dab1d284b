"""What the page of one run shows, gathered in a fixed number of queries."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from runs import history, standing, timeline, waterfall
from runs.facts import subject
from runs.models import Attempt, Blob, Effect, Run, Step, Transition
from runs.states import EffectStatus, RunState, StepKind
from runs.tools.base import titled

STEPS = 100
MOST_STEPS = 500
MOST_TRANSITIONS = 300
EFFECTS = {
    EffectStatus.STARTED: ("run", "started, no result yet"),
    EffectStatus.DONE: ("good", "done once"),
    EffectStatus.UNKNOWN: ("bad", "outcome unknown"),
    EffectStatus.NOT_DONE: ("", "did not happen"),
}


def of(run: Run, user: User, first: int | None = None) -> dict[str, Any]:
    """The whole context: six queries, whatever the length of the run.

    `first` is the step the reader's list begins with, so that it does not lose its
    head while the run goes on; without it the newest `STEPS` are shown.
    """
    state = RunState(run.state)
    steps = newest(run, first)
    last = steps[-1] if steps else None
    tries = list(Attempt.objects.filter(run=run).order_by("step_number", "number"))
    entries = timeline.entries(steps, tries, state=state)
    of_last = [t for t in tries if last and t.step_number == last.number]
    return {
        "run": run,
        "title": subject(run.task),
        "chip": standing.chip(run),
        "doing": standing.doing(run, last, of_last),
        "plan": standing.plan_of(run, last),
        "meters": standing.meters(run, last),
        "entries": entries,
        "earlier": steps[0].number if steps and steps[0].number > 1 else 0,
        "picture": waterfall.draw(entries),
        "transitions": list(_transitions(run)),
        "effects": effects(run),
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
    numbers = [step.number for step in shown]
    tries = Attempt.objects.filter(run=run, step_number__in=numbers)
    return {
        "run": run,
        "title": subject(run.task),
        "is_earlier": True,
        "entries": timeline.entries(shown, tries, state=RunState(run.state)),
        "earlier": shown[0].number if len(found) > STEPS else 0,
    }


def one_step(run: Run, step: Step) -> dict[str, Any]:
    """A step alone, with the exact prompt where it asked a model."""
    tries = list(Attempt.objects.filter(run=run, step_number=step.number))
    entry = timeline.entries([step], tries, state=RunState(run.state))[0]
    prompt, problem = _prompt(run, entry)
    return {
        "run": run,
        "title": subject(run.task),
        "entry": entry,
        "prompt": prompt,
        "problem": problem,
    }


def _prompt(run: Run, entry: timeline.Entry) -> tuple[list[Any], str]:
    if not entry.has_prompt:
        return [], ""
    try:
        return list(history.prompt_of(run, entry.number)), ""
    except (LookupError, Blob.DoesNotExist) as error:
        return [], f"The prompt of this step cannot be shown: {error}."


def effects(run: Run) -> list[dict[str, Any]]:
    """What the run did outside, oldest first; one query."""
    return [
        {
            "row": effect,
            "title": titled(effect.tool),
            "icon": timeline.TOOL_ICONS.get(effect.tool, "tool"),
            "tone": EFFECTS[EffectStatus(effect.status)][0],
            "words": EFFECTS[EffectStatus(effect.status)][1],
        }
        for effect in Effect.objects.filter(run=run).order_by("started_at")
    ]


def _transitions(run: Run) -> list[Transition]:
    found = Transition.objects.filter(run=run).order_by("-id")[:MOST_TRANSITIONS]
    return list(found)[::-1]


def _open_review(run: Run) -> Any:
    """The row of `reviews`, met by its reverse name: runs know nothing above them."""
    return run.reviews.filter(status="open", kind="waiting").first()


def _ending(run: Run) -> Transition | None:
    """How a run ended that did not complete: who and why."""
    if run.state not in {RunState.ABORTED, RunState.ERROR}:
        return None
    return Transition.objects.filter(run=run).order_by("-id").first()


def _facts(run: Run, steps: list[Step], tries: list[Attempt]) -> dict[str, Any]:
    config = run.version.config
    return {
        "model": model_words(config.get("model", ""), steps),
        "check_model": model_words(config.get("check_model", ""), []),
        "waited_s": run.waited_ms / 1000,
        "retries": len(tries),
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
