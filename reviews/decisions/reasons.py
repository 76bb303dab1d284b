"""The reasons people give for turning something down: presets, and their own words.

The presets are data, here (those of an abort: `runs.forms`) and nowhere else. The key is stored beside the words, so
that reasons can be counted; the words are what the agent or the log reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms

from reviews.decisions.base import DecisionForm, WordsField
from reviews.models import Review
from runs.forms import ENDINGS


@dataclass(frozen=True)
class Preset:
    """A reason to choose: `words` is the sentence it stands for."""

    key: str
    words: str


OTHER = "other"
REJECTING = (
    Preset("facts", "The facts or figures are not right."),
    Preset("target", "It goes to the wrong person or place."),
    Preset("scope", "It is more than was asked for."),
    Preset("wording", "The wording or the form is not good enough."),
    Preset("policy", "It is not allowed here."),
    Preset("timing", "It is not the time for it."),
)
ABORTING = tuple(Preset(key, words) for key, words in ENDINGS.items())


class ReasonForm(DecisionForm):
    """One of the presets, own words, or both; nothing at all is no reason.

    `cleaned_data` is {"preset": its key, `OTHER` for own words alone, "text": all
    the words}.
    """

    presets: ClassVar[Sequence[Preset]] = ()
    preset = forms.ChoiceField(
        required=False, label="Reason", widget=forms.RadioSelect, choices=()
    )
    text = WordsField(required=False, label="In your own words")

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        choices = [(preset.key, preset.words) for preset in self.presets]
        self.fields["preset"] = forms.ChoiceField(
            required=False,
            label="Reason",
            widget=forms.RadioSelect,
            choices=[*choices, (OTHER, "Another reason")],
        )

    def clean(self) -> dict[str, Any]:
        key = self.cleaned_data.get("preset") or OTHER
        own = self.cleaned_data.get("text", "").strip()
        chosen = next((p.words for p in self.presets if p.key == key), "")
        if not (chosen or own or self.errors):
            self.add_error("text", "Choose a reason, or say it in your own words.")
        return {"preset": key, "text": " ".join(filter(None, [chosen, own]))}
