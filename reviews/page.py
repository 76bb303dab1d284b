"""What the page of one review shows, and the sheets by which it is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from agentops import clock
from reviews import inbox, rights, undo
from reviews import why as reasons
from reviews.decisions import registry
from reviews.decisions.base import DecisionForm, DecisionKind
from reviews.models import Decision, Review
from reviews.models.review import ReviewStatus
from runs import page as run_page
from runs import standing, timeline
from runs.models import Attempt, Run
from runs.states import RunState

LIKE_CASES = 5
BRIEF_STEPS = 4
BAR_BUTTONS = 5
STEPS = run_page.STEPS


@dataclass(frozen=True)
class Sheet:
    """One decision that may be made here: its button, and the form behind it."""

    kind: DecisionKind
    label: str
    form: DecisionForm
    is_first: bool = False
    is_tucked: bool = False  # into the menu, where the bar would be crowded

    @property
    def name(self) -> str:
        return self.kind.kind

    @property
    def short(self) -> str:
        """One word, for narrow windows."""
        return self.label.split(" ", 1)[0]


def sheets(review: Review) -> list[Sheet]:
    """In the order of the buttons."""
    kinds = registry.offered(review)
    is_crowded = len(kinds) > BAR_BUTTONS
    return [
        Sheet(
            kind,
            kind.label(review),
            kind.form(review),
            is_first=place == 0,
            is_tucked=is_crowded and kind.is_rare,
        )
        for place, kind in enumerate(kinds)
    ]


def filled(review: Review, kind: str, data: Mapping[str, Any]) -> Sheet:
    """The sheet as it was sent, with what is wrong; raises `BadInput` for no kind."""
    chosen = registry.find(kind)
    return Sheet(chosen, chosen.label(review), chosen.form(review, data), True)


def of(review: Review, user: User) -> dict[str, Any]:
    """The whole context of the page, and of the pane beside the list."""
    run = review.run
    now = clock.now()
    row = inbox.row(review, user, now)
    is_open = review.status == ReviewStatus.OPEN.value
    blocked = rights.may_decide(user, review) if is_open else ""
    question, options = reasons.question_of(review)
    steps = _steps(run)
    forms = sheets(review) if is_open and not blocked else []
    return {
        "review": review,
        "run": run,
        "row": row,
        "why": reasons.why(review),
        "act": reasons.act(review),
        "question": question,
        "options": options,
        "reasoning": (review.detail or {}).get("reasoning", ""),
        "is_open": is_open,
        "blocked": blocked,
        "sheets": forms,
        "tucked": [sheet for sheet in forms if sheet.is_tucked],
        "entries": steps,
        "earlier": steps[0].number if steps and steps[0].number > 1 else 0,
        "brief": _brief(steps),
        "meters": standing.meters(run),
        "run_chip": standing.chip(run),
        "undo_s": undo.left_s(row.decision, user, now),
        "now": now,
    }


def _steps(run: Run) -> list[timeline.Entry]:
    steps = list(run.steps.order_by("-number")[:STEPS])[::-1]
    tries = Attempt.objects.filter(run=run).order_by("step_number", "number")
    return timeline.entries(steps, tries, state=RunState(run.state))


def _brief(entries: list[timeline.Entry]) -> list[timeline.Entry]:
    """What stands out, then the newest: enough for the pane."""
    telling = [entry for entry in entries if entry.tone in {"bad", "wait", "good"}]
    chosen = {entry.number: entry for entry in telling[-BRIEF_STEPS:]}
    for entry in reversed(entries):
        if len(chosen) >= BRIEF_STEPS:
            break
        chosen.setdefault(entry.number, entry)
    return [chosen[number] for number in sorted(chosen)]


@dataclass(frozen=True)
class LikeCase:
    decision: Decision
    words: str
    tone: str
    icon: str
    confidence: str


def like_cases(review: Review) -> list[LikeCase]:
    """The last decisions on the same agent, reason and tool; one query."""
    decisions = Decision.objects.filter(
        undone_at=None,
        review__reason=review.reason,
        review__agent=review.agent_id,
    ).exclude(review=review)
    tool = (review.proposal or {}).get("tool")
    if tool:
        decisions = decisions.filter(review__proposal__tool=tool)
    found = decisions.select_related("actor", "review").order_by("-decided_at")
    return [_like(decision) for decision in found[:LIKE_CASES]]


def _like(decision: Decision) -> LikeCase:
    is_bad = decision.kind in inbox.BAD_DECISIONS
    icon = "error" if is_bad else "pencil" if decision.kind == "edit" else "good"
    figures = (decision.review.detail or {}).get("figures") or {}
    confidence = reasons.why(decision.review).gauge
    return LikeCase(
        decision=decision,
        words=inbox.decided_words(decision),
        tone="bad" if is_bad else "" if decision.kind == "edit" else "good",
        icon=icon,
        confidence=confidence.stated_words if confidence and figures else "",
    )


def in_favour(cases: list[LikeCase]) -> str:
    """3 of 5 approved."""
    approved = sum(case.decision.kind in {"approve", "edit"} for case in cases)
    return f"{approved} of {len(cases)} approved" if cases else ""
