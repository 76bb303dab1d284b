"""Retry from an earlier step: this run ends, and another goes on from there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Decision, Review
from runs import forking, timeline
from runs.canonical import Json, shorten
from runs.models import Step
from runs.values import Verdict, VerdictKind
from runs.words import plainly


class ForkForm(DecisionForm):
    """`cleaned_data` is {"step": the number to start from, "text": why}."""

    step = forms.ChoiceField(label="Do again, from", choices=())
    text = WordsField(required=False, label="Why", help_text="Kept with the decision.")

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        self.fields["step"] = forms.ChoiceField(
            label="Do again, from",
            choices=[
                (s.number, plainly(_words(s))) for s in forking.places(review.run)
            ],
            help_text="A new run has all steps before it, and budgets of its own. What"
            " has been done outside is not done again. This run is aborted.",
        )

    def clean(self) -> dict[str, Any]:
        number = int(self.cleaned_data.get("step") or 0)
        return {"step": number, "text": self.cleaned_data.get("text", "")}


def _words(step: Step) -> str:
    lead, said, _ = timeline.outcome(step)
    what = ", ".join(filter(None, [lead, said]))
    return f"Step {step.number}: {timeline.title(step)}. {shorten(what, 80)}"


@decision_kind
class Fork(DecisionKind):
    kind = "fork"
    verdict = VerdictKind.FORK
    words = "Retry from an earlier step"
    short = "Retry earlier"
    done = "Forked"
    order = 70
    is_rare = True
    form_class = ForkForm

    def apply(self, decision: Decision, verdict: Verdict | None) -> None:
        """The fork first: its original has to rest, and does so until it ends."""
        number = int(decision.payload["step"])
        made = forking.fork(decision.review.run_id, number, by=decision.actor)
        words = f"forked as run {str(made.pk)[:8]} at step {number}"
        super().apply(decision, Verdict(VerdictKind.FORK, text=words))

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        why = str(cleaned_data.get("text") or "")
        return " ".join(filter(None, [f"From step {cleaned_data['step']}.", why]))
