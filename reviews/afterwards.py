"""Reviews of what went ahead by itself, though the check before it was not very sure.

Nothing waits for them. Somebody says afterwards whether it was good or bad, so that a
threshold can be judged by more than what it stopped. What counts as not very sure is
the agent's number (`Agent.afterwards_below`), else the product's; 0 is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import DecimalField, Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce

from agentops import clock
from agentops.conf import product
from reviews import ranking, searching
from reviews.models import Review
from reviews.models.review import ReviewKind, Risk
from runs import gates, timers
from runs.canonical import Json, shorten
from runs.facts import subject
from runs.models import Run, Step
from runs.states import ParkReason, StepKind, StepStatus
from runs.tools import registry as tools
from runs.tools.base import titled
from runs.values import Park

OPEN = "reviews.afterwards.open_reviews"
LOOK_BACK = timedelta(hours=1)
EVERY_S = 15.0
BATCH = 100
MAX_TITLE = 300


def open_reviews() -> dict[str, int]:
    """One review for each such check of the last hour; the queue runs it."""
    made = [_described(step) for step in _unsure(clock.now())[:BATCH]]
    Review.objects.bulk_create(made, ignore_conflicts=True)
    return {"opened": len(made)}


def register_timer() -> None:
    """Called once, when the apps are ready."""
    timers.register(OPEN, timers.seldom(is_due, EVERY_S))


def is_due() -> bool:
    """Asked only now and then: nothing waits for these."""
    return _unsure(clock.now()).exists()


def _unsure(now: datetime) -> QuerySet[Step]:
    """Checks that let something through with less confidence than is looked at.

    Whatever a check stopped has a review already, under the number of its step. The
    steps that a fork has from its original are the original's, and looked at there.
    """
    below = Coalesce(
        F("run__agent__afterwards_below"),
        Value(Decimal(str(product().afterwards_below))),
        output_field=DecimalField(max_digits=4, decimal_places=3),
    )
    known = Review.objects.filter(run=OuterRef("run"), step_number=OuterRef("number"))
    return (
        Step.objects.filter(
            ~Exists(known),
            kind=StepKind.CHECK.value,
            planned_at__gte=now - LOOK_BACK,
            status=StepStatus.SUCCEEDED.value,
            confidence__lt=below,
            run__sequence__gt=F("number"),
        )
        .exclude(run__fork_step__gt=F("number"))
        .select_related("run__agent", "run__submitter")
    )


def _described(step: Step) -> Review:
    run, now = step.run, clock.now()
    park = _as_park(step)
    due_at = now + timedelta(seconds=product().review_due_s)
    return Review(
        kind=ReviewKind.AFTERWARDS.value,
        run=run,
        agent=run.agent,
        step_number=step.number,
        sequence=step.number,
        reason=ParkReason.LOW_CONFIDENCE.value,
        title=shorten(park["title"], MAX_TITLE),
        question=park["question"],
        detail={name: park[name] for name in ("figures", "error", "reasoning")},
        proposal={},
        tool=_tool(step),
        risk=Risk.LOW.value,
        stakes=ranking.of(park).as_json(),
        search_text=searching.text_of(run, park),
        opened_at=now,
        due_at=due_at,
        rank_at=due_at,
    )


def _as_park(step: Step) -> dict[str, Json]:
    """The check as a park would tell of it, so that one page shows both."""
    said: dict[str, Any] = step.response or {}
    sure = Decimal(str(said.get("confidence", 0)))
    return Park(
        reason=ParkReason.LOW_CONFIDENCE,
        title=_title(step.run, step),
        question=f"It went ahead by itself at {gates.percent(sure)} confidence."
        " Was that right?",
        step=step.number,
        figures=_figures(said),
    ).as_json()


def _figures(said: Mapping[str, Any]) -> dict[str, Json]:
    names = ("rationale", "reversible", "side_effects", "will_do")
    told = {name: said[name] for name in names if name in said}
    return {"confidence": str(said.get("confidence", "")), **told}


def _tool(step: Step) -> str:
    return str((step.request or {}).get("tool") or "")


def _title(run: Run, step: Step) -> str:
    """What went ahead, in the tool's words; an answer goes by its task."""
    name = _tool(step)
    if not name:
        return subject(run.task)
    try:
        return tools.get(name).words((step.request or {}).get("arguments") or {})
    except KeyError:
        return titled(name)
