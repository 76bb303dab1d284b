"""Edit the plan: other items, another order; what is finished stays finished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviews.decisions.base import DecisionForm, DecisionKind, WordsField
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from runs import plans
from runs.canonical import Json
from runs.errors import BadInput
from runs.values import Verdict, VerdictKind


class PlanForm(DecisionForm):
    """The items that are open, one a line; `finished` are those that stay.

    `cleaned_data` is {"plan": all items, "text": why}.
    """

    items = WordsField(
        required=False,
        label="What is left to do",
        help_text="One item a line, in order. Add lines, take some out, move them.",
    )
    text = WordsField(
        required=False, label="Why", help_text="The agent reads it with the new plan."
    )

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        self.finished = plans.finished(review.run.plan)
        self.left = plans.left(review.run.plan)
        field = self.fields["items"]
        field.initial = "\n".join(self.left)
        field.widget.attrs |= {"rows": max(4, len(self.left) + 1), "class": "lines"}

    def clean(self) -> dict[str, Any]:
        plan: list[Any] = []
        try:
            plan = plans.changed(self.review.run.plan, self._lines())
        except BadInput as error:
            self.add_error("items", error.fields["items"])
        return {"plan": plan, "text": self.cleaned_data.get("text", "")}

    def _lines(self) -> list[str]:
        """A field that was not sent leaves the items as they are."""
        if "items" not in self.data:
            return self.left
        return str(self.cleaned_data.get("items", "")).split("\n")


@decision_kind
class Plan(DecisionKind):
    kind = "plan"
    verdict = VerdictKind.PLAN
    words = "Edit the plan"
    short = "Edit plan"
    done = "Plan changed"
    order = 45
    is_rare = True
    form_class = PlanForm

    def offered(self, review: Review) -> bool:
        return bool(review.run.plan) and super().offered(review)

    def to_verdict(self, review: Review, cleaned_data: Mapping[str, Json]) -> Verdict:
        text = str(cleaned_data.get("text", ""))
        return Verdict(VerdictKind.PLAN, text=text, plan=cleaned_data["plan"])

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        return str(cleaned_data.get("text") or "") or ", ".join(
            f"{number}. {item['text']}"
            for number, item in enumerate(cleaned_data["plan"], start=1)
            if item["status"] == "open"
        )
