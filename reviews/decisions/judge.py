"""Judging afterwards: what went ahead by itself was good, or it was bad.

The run is left alone; the judgement is kept for the next look at a threshold.
"""

from __future__ import annotations

from typing import ClassVar

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from reviews.models.review import ReviewKind
from runs.values import VerdictKind


class GoodForm(DecisionForm):
    text = WordsField(required=False, label="Why", help_text="For other reviewers.")


class BadForm(DecisionForm):
    text = WordsField(
        required=True,
        label="What was wrong with it",
        help_text="For other reviewers, and for who writes the agent's prompt.",
    )


class Judgement(DecisionKind):
    """What both have in common: offered afterwards only, and nothing is carried out."""

    verdict: ClassVar[VerdictKind | None] = None

    def offered(self, review: Review) -> bool:
        return review.kind == ReviewKind.AFTERWARDS.value


@decision_kind
class Good(Judgement):
    kind = "good"
    words = "It was good"
    short = "Good"
    done = "Judged good"
    order = 10
    form_class = GoodForm


@decision_kind
class Bad(Judgement):
    kind = "bad"
    words = "It was bad"
    short = "Bad"
    done = "Judged bad"
    tone = "bad"
    order = 60
    is_danger = True
    form_class = BadForm
