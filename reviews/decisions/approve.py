"""Approve: the call runs as proposed, or the answer is taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviews.decisions import keeping
from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Decision, Review
from runs.canonical import Json
from runs.states import ParkReason
from runs.values import Verdict, VerdictKind


class ApproveForm(DecisionForm):
    """`cleaned_data` has "note", and "holds" and "days" where it is to be kept."""

    note = WordsField(
        required=False,
        label="Note to the agent",
        help_text="The agent reads it after the result of the call.",
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        keeping.add_to(self, review)

    def clean(self) -> dict[str, Any]:
        note = self.cleaned_data.get("note", "")
        return {"note": note} | keeping.taken(self, "note")


def approve_words(review: Review) -> str:
    """ "Approve and send": the first word of what would happen says how it ends."""
    title = str(review.proposal.get("title", "")) if review.proposal else ""
    verb = title.split(" ", 1)[0]
    if verb.isalpha():
        return f"Approve and {verb.lower()}"
    if review.reason == ParkReason.ANSWER:
        return "Accept the answer"
    return "Approve"


@decision_kind
class Approve(DecisionKind):
    kind = "approve"
    verdict = VerdictKind.APPROVE
    words = "Approve"
    done = "Approved"
    verb = "Approve"
    key = "a"
    order = 10
    runs_call = True
    form_class = ApproveForm

    def label(self, review: Review) -> str:
        return approve_words(review)

    def to_verdict(self, review: Review, cleaned_data: Mapping[str, Json]) -> Verdict:
        return Verdict(VerdictKind.APPROVE, note=str(cleaned_data.get("note", "")))

    def apply(self, decision: Decision, verdict: Verdict | None) -> None:
        super().apply(decision, verdict)
        keeping.keep(decision, "note")

    def take_back(self, decision: Decision) -> None:
        keeping.take_back(decision)

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        return keeping.said(cleaned_data, "note")
