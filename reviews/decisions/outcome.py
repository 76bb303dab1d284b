"""Record an outcome: a call was started and nobody knows whether it took effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from reviews import ledger
from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from runs.canonical import Json, loads
from runs.values import Verdict, VerdictKind

YES, NO = "yes", "no"


class OutcomeForm(DecisionForm):
    """ "It did not happen" is there only once whoever started the call is dead."""

    happened = forms.ChoiceField(
        label="Did it happen?", widget=forms.RadioSelect, choices=()
    )
    result = WordsField(
        required=False,
        label="With what result",
        help_text="The agent reads it as the result of its call. Text or JSON.",
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        choices = [(YES, "It happened")]
        if is_starter_dead(review):
            choices.append((NO, "It did not happen: do it now"))
        self.fields["happened"] = forms.ChoiceField(
            label="Did it happen?", widget=forms.RadioSelect, choices=choices
        )

    def clean(self) -> dict[str, Any]:
        happened = self.cleaned_data.get("happened") == YES
        result = self.cleaned_data.get("result", "") if happened else None
        return {"happened": happened, "result": _json(result)}


@decision_kind
class Outcome(DecisionKind):
    kind = "outcome"
    verdict = VerdictKind.OUTCOME
    words = "Record what happened"
    done = "Outcome recorded"
    key = "o"
    order = 11
    repeats_call = True
    form_class = OutcomeForm

    def to_verdict(self, review: Review, cleaned_data: Mapping[str, Json]) -> Verdict:
        happened = bool(cleaned_data["happened"])
        return Verdict(
            VerdictKind.OUTCOME, happened=happened, result=cleaned_data.get("result")
        )

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        return "It happened" if cleaned_data["happened"] else "It did not happen"


def is_starter_dead(review: Review) -> bool:
    """Is the process that started the call known to be gone?"""
    start = ledger.start_of(review)
    return start is None or start.is_starter_dead


def _json(text: str | None) -> Json:
    """An object or a list where the text is one, else the text."""
    if text and text.lstrip()[:1] in {"{", "["}:
        try:
            return loads(text)
        except ValueError:
            return text
    return text
