"""Guide: words that the agent reads as a message, and the run goes on."""

from __future__ import annotations

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from runs.values import VerdictKind


class GuideForm(DecisionForm):
    text = WordsField(
        required=True,
        label="Guidance",
        help_text="The agent reads it as a message and goes on. Holds for this run.",
    )


@decision_kind
class Guide(DecisionKind):
    kind = "guide"
    verdict = VerdictKind.GUIDE
    words = "Guide the agent"
    key = "g"
    order = 30
    form_class = GuideForm
