"""Guide: words that the agent reads as a message, and the run goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviews.decisions import keeping
from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Decision, Review
from runs.canonical import Json
from runs.values import Verdict, VerdictKind


class GuideForm(DecisionForm):
    """`cleaned_data` has "text", and "holds" and "days" where it is to be kept."""

    text = WordsField(
        required=True,
        label="Guidance",
        help_text="The agent reads it as a message and goes on.",
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        keeping.add_to(self, review)

    def clean(self) -> dict[str, Any]:
        text = self.cleaned_data.get("text", "")
        return {"text": text} | keeping.taken(self, "text")


@decision_kind
class Guide(DecisionKind):
    kind = "guide"
    verdict = VerdictKind.GUIDE
    words = "Guide the agent"
    done = "Guided"
    verb = "Guide"
    key = "g"
    order = 30
    form_class = GuideForm

    def apply(self, decision: Decision, verdict: Verdict | None) -> None:
        super().apply(decision, verdict)
        keeping.keep(decision, "text")

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        return keeping.said(cleaned_data, "text")
