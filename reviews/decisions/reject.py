"""Reject: the call is not made, and the agent reads why."""

from __future__ import annotations

from reviews.decisions.base import DecisionKind, WordsField
from reviews.decisions.reasons import REJECTING, ReasonForm
from reviews.decisions.registry import decision_kind
from runs.values import VerdictKind


class RejectForm(ReasonForm):
    presets = REJECTING
    text = WordsField(
        required=False,
        label="In your own words",
        help_text="The agent reads both as the result of its call, which is not made.",
    )


@decision_kind
class Reject(DecisionKind):
    kind = "reject"
    verdict = VerdictKind.REJECT
    words = "Reject"
    done = "Rejected"
    verb = "Reject"
    tone = "bad"
    key = "r"
    order = 60
    form_class = RejectForm
