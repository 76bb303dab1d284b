"""Top up: new limits for a run that has met one of its budgets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_UP, Decimal
from typing import Any

from django import forms

from reviews.decisions.base import DecisionForm, DecisionKind
from reviews.decisions.registry import decision_kind
from reviews.models import Review
from runs.budgets import KINDS, Kind, Used
from runs.canonical import Json
from runs.values import Verdict, VerdictKind

PREFIX = "limits."
ROUND_TO = {"money": Decimal("0.05"), "tokens": Decimal(1000), "seconds": Decimal(30)}


class TopUpForm(DecisionForm):
    """A field per limit the run has; the one that is spent shows a suggestion.

    `cleaned_data` is {"limits": the new limits by kind, those that changed}.
    """

    def __init__(
        self, data: Mapping[str, Any] | None = None, *, review: Review, kind: str = ""
    ) -> None:
        super().__init__(data, review=review, kind=kind)
        for budget in _limited(review):
            self.fields[PREFIX + budget.name] = _field(budget, review)

    def clean(self) -> dict[str, Any]:
        changed: dict[str, Json] = {}
        for budget in _limited(self.review):
            self._take(budget, changed)
        if not changed and not self.errors:
            self.add_error(None, "Raise at least one of the limits.")
        return {"limits": changed}

    def _take(self, budget: Kind, changed: dict[str, Json]) -> None:
        field = PREFIX + budget.name
        entered = self.cleaned_data.get(field)
        if not entered:
            return
        try:
            value = budget.read(entered)
        except ValueError as error:
            self.add_error(field, f"{budget.label} {error}.")
            return
        if Decimal(str(value)) == _limit(budget, self.review):
            return
        spent = budget.used(used(self.review))
        if Decimal(str(value)) <= spent:
            words = f"This must be above the {budget.format(spent)} already used."
            self.add_error(field, words)
        else:
            changed[budget.name] = value


@decision_kind
class TopUp(DecisionKind):
    """Takes the form's fields, or the new `limits` as one object."""

    kind = "top_up"
    verdict = VerdictKind.TOP_UP
    words = "Raise the budget"
    done = "Budget raised"
    key = "b"
    order = 13
    form_class = TopUpForm

    def clean(self, review: Review, payload: Mapping[str, Any]) -> dict[str, Json]:
        return super().clean(review, _fields(payload))

    def is_again(
        self, review: Review, payload: Mapping[str, Any], decided: Mapping[str, Json]
    ) -> bool:
        """The limits are raised already: again is what would change none of them."""
        entered = _fields(payload)
        return all(PREFIX + name in entered for name in decided["limits"]) and all(
            amount(entered[PREFIX + budget.name]) == _limit(budget, review)
            for budget in _limited(review)
            if entered.get(PREFIX + budget.name)
        )

    def to_verdict(self, review: Review, cleaned_data: Mapping[str, Json]) -> Verdict:
        return Verdict(VerdictKind.TOP_UP, limits=dict(cleaned_data["limits"]))

    def note(self, cleaned_data: Mapping[str, Json]) -> str:
        limits = cleaned_data["limits"].items()
        return ", ".join(f"{KINDS[name].label} {value}" for name, value in limits)


def _fields(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The form's fields, where `limits` came as one object."""
    limits = payload.get("limits")
    if not isinstance(limits, Mapping):
        return payload
    return {f"{PREFIX}{name}": str(value) for name, value in limits.items()}


def used(review: Review) -> Used:
    """What the run has used so far."""
    run = review.run
    return Used(run.steps_used, run.active_ms / 1000, run.cost, run.tokens)


def suggestion(budget: Kind, review: Review) -> Decimal:
    """A limit that should do: what is used and what the park forecasts on top."""
    figures = review.detail.get("figures", {})
    more = max(amount(figures.get("forecast")), amount(figures.get("needed")))
    least = max(_limit(budget, review), budget.used(used(review)))
    wanted = max(budget.used(used(review)) + more, least * Decimal("1.2"))
    unit = ROUND_TO.get(budget.name, Decimal(1))
    return min((wanted / unit).to_integral_value(rounding=ROUND_UP) * unit, budget.most)


def amount(words: Json) -> Decimal:
    """The number in an amount as people read it ("$0.4900", "1,200", "30 s")."""
    found = re.search(r"\d+(\.\d+)?", str(words or "").replace(",", ""))
    return Decimal(found[0]) if found else Decimal(0)


def _limited(review: Review) -> list[Kind]:
    limits = review.run.limits
    return [kind for kind in KINDS.values() if limits.get(kind.name) is not None]


def _limit(budget: Kind, review: Review) -> Decimal:
    return Decimal(str(review.run.limits[budget.name]))


def _field(budget: Kind, review: Review) -> forms.Field:
    limit = _limit(budget, review)
    is_spent = review.detail.get("figures", {}).get("budget") == budget.name
    shown = suggestion(budget, review) if is_spent else limit
    spent = budget.format(budget.used(used(review)))
    return forms.CharField(
        label=budget.label,
        initial=f"{shown.normalize():f}",
        required=False,
        max_length=30,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
        help_text=f"{spent} of {budget.format(limit)} used.",
    )
