"""What the page of one review shows, and the sheets by which it is decided."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import User

from agentops import clock
from reviews import (
    act,
    drafts,
    glance,
    holding,
    inbox,
    like,
    notes,
    rights,
    saved_views,
    undo,
)
from reviews import why as reasons
from reviews.decisions import registry
from reviews.decisions.base import DecisionForm, DecisionKind
from reviews.decisions.changes import Change, between
from reviews.filters import Filters
from reviews.glance import Changes, Shown
from reviews.holding import Before
from reviews.models import Decision, Review
from reviews.models.review import ReviewStatus
from runs import glance as run_glance
from runs import page as run_page
from runs import standing, timeline
from runs.models import Attempt, Run, Step
from runs.states import RunState

BRIEF_STEPS = 4
BAR_BUTTONS = 5


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
    def is_blank(self) -> bool:
        """Has nobody typed into it?"""
        return not self.form.is_bound and self.form.draft is None

    @property
    def looks(self) -> str:
        """The same for two sheets whose fields look the same, whatever their item."""
        shown = [
            (
                *(name, field.label, field.help_text, field.required),
                *(type(field).__name__, type(field.widget).__name__),
                self.form.get_initial_for_field(field, name),
                list(getattr(field, "choices", ())),
                sorted(field.widget.attrs.items()),
            )
            for name, field in self.form.fields.items()
        ]
        return hashlib.sha256(repr(shown).encode()).hexdigest()

    @property
    def short(self) -> str:
        """A word or two, for narrow windows."""
        return self.kind.short or self.label.split(" ", 1)[0]


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


def beside(offered: list[Sheet], proposed: act.Act | None) -> list[Sheet]:
    """What may be decided beside the list: no call that is not shown whole there.

    The bar is one row there, so what ends the run is in its menu where it is crowded.
    """
    is_long = proposed is not None and proposed.is_long
    near = [one for one in offered if not (is_long and one.kind.makes_call)]
    is_crowded = sum(not one.is_tucked for one in near) >= BAR_BUTTONS
    return [
        replace(one, is_tucked=True) if is_crowded and one.kind.is_danger else one
        for one in near
    ]


def whole(review: Review, user: User, filters: Filters | None = None) -> dict[str, Any]:
    """The context of the page: the pane's, what others did, what is next.

    `filters` are those of the list one came from, and goes back to.
    """
    filters = filters or Filters()
    context = of(review, user, is_whole=True)
    now = context["now"]
    return (
        context
        | _stands(review, context["entries"])
        | {
            "filters": filters,
            "came_from": saved_views.find(filters.view, user, now).title,
            "near": inbox.neighbours(user, review, filters, now),
            "notes": notes.of(review),
            "edited": _edited(review, context["row"].decision),
        }
    )


def _edited(review: Review, decision: Decision | None) -> list[Change]:
    """What the decision changed of the call, where it did."""
    if decision is None or "arguments" not in decision.payload:
        return []
    return between(review.proposal["arguments"], decision.payload["arguments"])


def to_decide(review: Review) -> Review | None:
    """The open item to go to, this one or that at which its run has parked again.

    A query only where the run has.
    """
    if review.status == ReviewStatus.OPEN.value:
        return review
    if review.run.state != RunState.AWAITING_HUMAN:
        return None
    return Review.objects.open().filter(run=review.run).only("pk").first()


def _stands(review: Review, entries: list[timeline.Entry]) -> dict[str, Any]:
    """What the line says that tells of the run after a decision."""
    run, last = review.run, entries[-1].step if entries else None
    return {
        "run_chip": standing.chip(run),
        "doing": standing.doing(run, last),
        "waits": to_decide(review),
    }


def of(review: Review, user: User, *, is_whole: bool = False) -> dict[str, Any]:
    """What page and pane both show, of a review as `access.review_for` finds it.

    The pane is short, and does without the tries of each step; three queries, and
    one more for the page.
    """
    run = review.run
    now = clock.now()
    row = inbox.row(review, user, now)
    is_open = review.status == ReviewStatus.OPEN.value
    is_unanswered = review.waits_unanswered
    is_waiting = is_open or is_unanswered
    blocked = rights.may_decide(user, review, is_seen=True) if is_waiting else ""
    question, options = reasons.question_of(review)
    forms = sheets(review) if is_waiting and not blocked else []
    note = drafts.restore(review, user, {sheet.name: sheet.form for sheet in forms})
    steps = run_page.newest(run)
    proposed = act.act(review, steps)
    near = beside(forms, proposed)
    entries = entries_of(run, steps, with_tries=is_whole)
    cases = like.cases(review, user)
    return happened(run, entries) | {
        "review": review,
        "run": run,
        "row": row,
        "shown_state": glance.state_of(review),
        "held": holding.of(review, user, now, Before()),
        "note_draft": note,
        "why": reasons.why(review, steps),
        "act": proposed,
        "question": question,
        "options": options,
        "reasoning": (review.detail or {}).get("reasoning", ""),
        "is_open": is_open,
        "is_unanswered": is_unanswered,
        "blocked": blocked,
        "sheets": forms,
        "tucked": [sheet for sheet in forms if sheet.is_tucked],
        "pane_sheets": near,
        "pane_tucked": [sheet for sheet in near if sheet.is_tucked],
        "brief": _brief(entries),
        "cases": cases,
        "in_favour": like.in_favour(cases, review),
        "meters": standing.meters(run),
        "undo_s": undo.left_s(row.decision, user, now),
        "now": now,
    }


def changed(
    review: Review, user: User, shown: Shown, changes: Changes
) -> dict[str, Any]:
    """The parts of an open page that are to be shown anew; a query for each, at most."""
    now = clock.now()
    return {
        "review": review,
        "row": inbox.row(review, user, now),
        "shown_state": glance.state_of(review),
        "changes": changes,
        "in_pane": shown.notes is None,
        "is_over": review.status != ReviewStatus.OPEN.value,
        "held": holding.of(review, user, now, shown.hold or Before()),
        "blocked": rights.may_decide(user, review, is_seen=True),
        "notes": notes.of(review) if changes.notes else None,
    }


def goes_on(review: Review, first: int | None) -> dict[str, Any]:
    """What is shown anew while a run goes on: its steps, and how it stands.

    `first` as in `runs.page.newest`. At most three queries: steps, tries, the item that
    waits now.
    """
    run = review.run
    entries = entries_of(run, run_page.newest(run, first))
    return happened(run, entries) | _stands(review, entries) | {"review": review}


def happened(run: Run, entries: list[timeline.Entry]) -> dict[str, Any]:
    """What the section of the steps shows; it is asked for again while a run goes on."""
    return {
        "run": run,
        "stamp": run_glance.stamp(run),
        "entries": entries,
        "earlier": entries[0].number if entries and entries[0].number > 1 else 0,
        "is_active": RunState(run.state).is_active,
    }


def entries_of(
    run: Run, steps: list[Step], *, with_tries: bool = True
) -> list[timeline.Entry]:
    """The steps as lines, with the tries of these alone; one query, or none."""
    tries = Attempt.objects.none()
    if with_tries and steps:
        found = Attempt.objects.filter(run=run, step_number__gte=steps[0].number)
        tries = found.order_by("step_number", "number")
    return timeline.entries(
        steps, tries, state=RunState(run.state), wake_at=run.wake_at
    )


def _brief(entries: list[timeline.Entry]) -> list[timeline.Entry]:
    """What stands out, then the newest: enough for the pane."""
    telling = [entry for entry in entries if entry.tone in {"bad", "wait", "good"}]
    chosen = {entry.number: entry for entry in telling[-BRIEF_STEPS:]}
    for entry in reversed(entries):
        if len(chosen) >= BRIEF_STEPS:
            break
        chosen.setdefault(entry.number, entry)
    return [chosen[number] for number in sorted(chosen)]
