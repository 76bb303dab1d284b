"""Retry: the step that failed is done again, its attempts counted anew."""

from __future__ import annotations

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from runs.values import VerdictKind


class RetryForm(DecisionForm):
    text = WordsField(required=False, label="Note", help_text="Kept with the decision.")


@decision_kind
class Retry(DecisionKind):
    kind = "retry"
    verdict = VerdictKind.RETRY
    words = "Retry the step"
    done = "Retried"
    verb = "Retry"
    key = "t"
    order = 15
    repeats_call = True
    form_class = RetryForm
