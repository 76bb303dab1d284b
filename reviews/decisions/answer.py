"""Answer: a person's words become the result of the agent's question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from runs.values import VerdictKind


class AnswerForm(DecisionForm):
    """Choose one of the answers the agent offered, or write one."""

    choice = forms.ChoiceField(
        required=False, label="Answer", widget=forms.RadioSelect, choices=()
    )
    text = WordsField(required=False, label="Answer")

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        options = _options(review)
        if options:
            self.fields["choice"] = forms.ChoiceField(
                required=False,
                label="Answer",
                widget=forms.RadioSelect,
                choices=[(option, option) for option in options],
            )
            self.fields["text"].label = "Or in your own words"
        else:
            del self.fields["choice"]
            self.fields["text"].required = True

    def clean(self) -> dict[str, Any]:
        text = self.cleaned_data.get("text") or self.cleaned_data.get("choice", "")
        if not text and not self.errors:
            self.add_error("text", "Choose an answer or write one.")
        return {"text": text}


@decision_kind
class Answer(DecisionKind):
    kind = "answer"
    verdict = VerdictKind.ANSWER
    words = "Answer"
    done = "Answered"
    key = "w"
    order = 12
    form_class = AnswerForm


def _options(review: Review) -> list[str]:
    """The answers to choose from, where the agent gave some."""
    arguments = review.proposal.get("arguments", {}) if review.proposal else {}
    options = arguments.get("options", [])
    return [str(option) for option in options] if isinstance(options, list) else []
