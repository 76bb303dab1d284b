"""Reject: the call is not made, and the agent reads why."""

from __future__ import annotations

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from runs.values import VerdictKind


class RejectForm(DecisionForm):
    text = WordsField(
        required=True,
        label="Reason",
        help_text="The agent reads it as the result of its call, which is not made.",
    )


@decision_kind
class Reject(DecisionKind):
    kind = "reject"
    verdict = VerdictKind.REJECT
    words = "Reject"
    key = "r"
    order = 60
    form_class = RejectForm
