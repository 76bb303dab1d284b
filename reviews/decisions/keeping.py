"""Words to the agent that hold once, or from now on: the choice, and the keeping.

A form gets two more fields by `add_to`; `taken` reads them, `keep` writes the row in
the decision's transaction, `take_back` removes it where the decision is undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django import forms

from reviews.decisions.base import DecisionForm
from reviews.models import Decision, Review
from runs import guidance
from runs.canonical import Json
from runs.models import Guidance
from runs.tools.base import titled

ONCE, AGENT, TOOL = "once", "agent", "tool"
MAX_DAYS = 3650


def add_to(form: DecisionForm, review: Review) -> None:
    """The choice for how long the words hold, with the words first."""
    choices = [
        (ONCE, "Once: for this run only"),
        (AGENT, f"From now on: for every run of {review.run.agent.name}"),
    ]
    if review.tool:
        words = f"From now on: for every agent that may use {titled(review.tool)}"
        choices.append((TOOL, words))
    form.fields["holds"] = forms.ChoiceField(
        label="How long it holds",
        required=False,
        initial=ONCE,
        widget=forms.RadioSelect,
        choices=choices,
    )
    form.fields["days"] = forms.IntegerField(
        label="For how many days",
        required=False,
        min_value=1,
        max_value=MAX_DAYS,
        help_text="Only for “from now on”. Empty: until somebody ends it. Runs that"
        " have started are not touched.",
    )


def taken(form: DecisionForm, words: str) -> dict[str, Json]:
    """{"holds", "days"} where the words in field `words` are to be kept, else {}.

    Adds to the form's errors what cannot be kept.
    """
    holds = form.cleaned_data.get("holds") or ONCE
    if holds == ONCE:
        return {}
    text = form.cleaned_data.get(words, "").strip()
    if not text and words not in form.errors:
        form.add_error(words, "Say what is to hold from now on.")
    if len(text) > guidance.MAX_LENGTH:
        most = f"at most {guidance.MAX_LENGTH:,} characters"
        form.add_error(words, f"What holds from now on has {most}.")
    return {"holds": holds, "days": form.cleaned_data.get("days")}


def keep(decision: Decision, words: str) -> None:
    """Keep the words as the decision says, in its transaction."""
    payload = decision.payload
    holds, days = payload.get("holds", ONCE), payload.get("days")
    if holds == ONCE:
        return
    review, now = decision.review, decision.decided_at
    guidance.keep(
        payload[words],
        by=decision.actor,
        at=decision.effective_at,
        agent=review.run.agent if holds == AGENT else None,
        tool=review.tool if holds == TOOL else "",
        until=now + timedelta(days=days) if days else None,
    )


def take_back(decision: Decision) -> None:
    """Nothing that an undone decision kept stays; no run has started with it yet."""
    kept = Guidance.objects.filter(
        owner=decision.actor, created_at=decision.effective_at
    )
    kept.delete()


def said(payload: Mapping[str, Any], words: str) -> str:
    """The words, and how long they hold where that is not once."""
    holds, text = payload.get("holds", ONCE), str(payload.get(words) or "")
    if holds == ONCE:
        return text
    days = payload.get("days")
    until = f", for {days} days" if days else ""
    whom = "this agent" if holds == AGENT else "every agent with this tool"
    return f"{text} (from now on for {whom}{until})"
