"""Supply the result: a person has done by hand what the call was to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from runs.canonical import Json, loads, shorten
from runs.timeline import result_in_brief
from runs.values import Verdict, VerdictKind

TEXT, JSON = "text", "json"


class SupplyForm(DecisionForm):
    """`cleaned_data` is {"type": text or json, "result": the value it stands for}."""

    type = forms.ChoiceField(
        label="The result is",
        widget=forms.RadioSelect,
        choices=[(TEXT, "Text"), (JSON, "JSON")],
        required=False,
        initial=TEXT,
    )
    result = WordsField(
        required=True,
        label="What came of it",
        help_text="The agent reads it as the result of its call, and that a person"
        " did it. The call itself is not made.",
    )

    def clean(self) -> dict[str, Any]:
        kind = self.cleaned_data.get("type") or TEXT
        result: Json = self.cleaned_data.get("result", "").strip()
        if kind == JSON and result:
            try:
                result = loads(result)
            except ValueError as error:
                self.add_error("result", f"This is not JSON: {error}.")
        return {"type": kind, "result": result}


@decision_kind
class Supply(DecisionKind):
    """For whoever did it outside; the ledger then says that it is done."""

    kind = "supply"
    verdict = VerdictKind.SUPPLY
    words = "Supply the result"
    done = "Result supplied"
    order = 40
    is_rare = True
    form_class = SupplyForm

    def to_verdict(self, review: Review, cleaned_data: Mapping[str, Json]) -> Verdict:
        return Verdict(VerdictKind.SUPPLY, result=cleaned_data["result"])

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        result = cleaned_data["result"]
        return f"Done by hand: {shorten(result_in_brief(result, ''), 200)}"
