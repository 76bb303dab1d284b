"""The form by which a task is given: fields from the agent's JSON Schema, budgets.

Names are those of `BadInput`: `task`, `inputs.<name>`, `limits.<kind>`, so that what
the service refuses is shown beside the field it is about.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.html import escape

from runs import words
from runs.canonical import Json, clean, clean_text, loads
from runs.errors import BadInput
from runs.models import Agent
from runs.services import limits_of

KEY_CHARS = 64
LONGEST = 10_000


ENDINGS = {
    "not_needed": "It is not needed any more.",
    "by_hand": "A person does it by hand.",
    "wrong_task": "The task was wrong or left something out.",
    "off_track": "The agent is on the wrong track.",
    "cost": "It costs more than it is worth.",
}
"""The ready reasons for ending a run, by their keys; here and nowhere else."""


class CancelForm(forms.Form):
    """Why a run is ended: a ready reason, own words, or both.

    `cleaned_data["reason"]` is all of it as one text.
    """

    preset = forms.ChoiceField(
        required=False,
        label="Reason",
        widget=forms.RadioSelect,
        choices=[*ENDINGS.items(), ("other", "Another reason")],
    )
    own = forms.CharField(
        required=False,
        label="In your own words",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, auto_id="id_cancel_%s")

    def clean(self) -> dict[str, Any]:
        chosen = ENDINGS.get(self.cleaned_data.get("preset", ""), "")
        own = clean_text(self.cleaned_data.get("own", "")).strip()
        if not (chosen or own or self.errors):
            self.add_error("own", "Choose a reason, or say it in your own words.")
        return {"reason": " ".join(filter(None, [chosen, own]))}


@dataclass(frozen=True)
class Budget:
    """How one budget is asked for: its words, and a unit behind the number."""

    kind: str
    label: str
    unit: str
    hint: str


BUDGETS = (
    Budget("steps", "Steps", "", "Every model call and tool call is one"),
    Budget("seconds", "Active time", "s", "Waiting for a person does not count"),
    Budget("money", "Money", "USD", "Overshot by one call at most"),
    Budget("tokens", "Tokens", "", "In and out together"),
)


class TaskForm(forms.Form):
    """For one agent; `initial_inputs` and `initial_task` fill in a run to repeat."""

    key = forms.CharField(
        max_length=KEY_CHARS, required=False, widget=forms.HiddenInput
    )

    def __init__(
        self,
        agent: Agent,
        data: Mapping[str, Any] | None = None,
        *,
        key: str = "",
        initial_inputs: Mapping[str, Json] | None = None,
        initial_task: str = "",
    ) -> None:
        super().__init__(data, initial={"key": key})
        self.agent = agent
        given = dict(initial_inputs or {})
        for name, shape in self._properties.items():
            field = field_of(name, shape, is_required=name in self._required)
            if name in given:
                field.initial = given[name]
            self.fields[f"inputs.{name}"] = field
        self.fields["task"] = _task_field(initial_task, bool(agent.task_template))
        self._add_budgets()

    @property
    def _properties(self) -> dict[str, Any]:
        found = (self.agent.input_schema or {}).get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def _required(self) -> list[str]:
        return list((self.agent.input_schema or {}).get("required") or [])

    def _add_budgets(self) -> None:
        limits = limits_of(self.agent)
        for budget in BUDGETS:
            field = _budget_field(budget, limits.get(budget.kind))
            self.fields[f"limits.{budget.kind}"] = field

    # What the view and the template ask

    @property
    def input_fields(self) -> list[BoundField]:
        """The agent's own fields and the task."""
        return [self[name] for name in self.fields if _is_input(name)]

    @property
    def budget_fields(self) -> list[BoundField]:
        return [self[name] for name in self.fields if name.startswith("limits.")]

    @property
    def budget_in_words(self) -> str:
        """The agent's usual budgets in one line."""
        limits = limits_of(self.agent)
        shown: dict[str, Callable[[Any], str]] = {
            "steps": lambda v: words.plural(int(v), "step"),
            "seconds": lambda v: words.duration(int(v)),
            "money": words.money,
            "tokens": lambda v: words.plural(int(v), "token"),
        }
        given = [show(limits[k]) for k, show in shown.items() if limits.get(k)]
        return ", ".join(given) or "no limit"

    @property
    def has_budget_errors(self) -> bool:
        return any(name.startswith("limits.") for name in self.errors)

    @property
    def inputs(self) -> dict[str, Json]:
        """What was entered, as the schema's types; what was left empty is absent."""
        values = {
            name: self.cleaned_data.get(f"inputs.{name}") for name in self._properties
        }
        return {n: clean(_plainly(v)) for n, v in values.items() if v not in (None, "")}

    @property
    def task(self) -> str:
        return clean_text(str(_plainly(self.cleaned_data.get("task", ""))))

    @property
    def limits(self) -> dict[str, Json]:
        """The budgets that differ from the agent's own."""
        usual = limits_of(self.agent)
        entered = {
            budget.kind: self.cleaned_data.get(f"limits.{budget.kind}", "")
            for budget in BUDGETS
        }
        return {
            kind: text
            for kind, text in entered.items()
            if text and text != _plain(usual.get(kind))
        }

    def refuse(self, error: BadInput) -> None:
        """Put what the service found wrong beside the fields it is about."""
        for name, wrong in error.fields.items():
            self.add_error(name if name in self.fields else None, wrong)


def _plainly(value: Any) -> Any:
    """30.0 as 30, and line ends as one character: people and models read the task."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n")
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def _is_input(name: str) -> bool:
    return name == "task" or name.startswith("inputs.")


def _task_field(initial: str, has_template: bool) -> forms.Field:
    if has_template:
        return forms.CharField(
            label="Anything else the agent should know",
            required=False,
            widget=forms.Textarea(attrs={"rows": 2}),
        )
    return forms.CharField(
        label="Task",
        initial=initial,
        help_text="What should be done, and how you will know that it was done well.",
        widget=forms.Textarea(attrs={"rows": 6}),
        error_messages={"required": "Say what should be done."},
    )


def _budget_field(budget: Budget, limit: Json) -> forms.Field:
    field = forms.CharField(
        label=budget.label,
        initial=_plain(limit),
        required=False,
        max_length=30,
        help_text=budget.hint,
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    field.unit = budget.unit  # type: ignore[attr-defined] # read by the template
    return field


def _plain(limit: Json) -> str:
    if limit is None:
        return ""
    return f"{Decimal(str(limit)):f}"


# Fields from JSON Schema


def field_of(name: str, shape: Mapping[str, Json], *, is_required: bool) -> forms.Field:
    """The field for one property; an unknown type is asked for as text."""
    field = _make(shape, is_required)
    field.label = str(shape.get("title") or name.replace("_", " ").capitalize())
    field.help_text = escape(str(shape.get("description") or ""))
    field.initial = shape.get("default")
    field.unit = str(shape.get("x-unit") or "")  # type: ignore[attr-defined]
    return field


def _make(shape: Mapping[str, Json], is_required: bool) -> forms.Field:
    if "enum" in shape:
        return _choice(shape, is_required)
    kind = shape.get("type")
    if kind == "boolean":
        return forms.BooleanField(required=False)
    if kind == "integer":
        return forms.IntegerField(
            required=is_required, **_bounds(shape), widget=_number("1")
        )
    if kind == "number":
        return forms.FloatField(
            required=is_required, **_bounds(shape), widget=_number("any")
        )
    if kind in ("array", "object"):
        return JsonField(required=is_required)
    return _text(shape, is_required)


class JsonField(forms.CharField):
    """A list or an object, entered as JSON; what does not fit is for the schema."""

    widget = forms.Textarea(attrs={"rows": 4, "class": "code"})

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value, indent=2, ensure_ascii=False)

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        try:
            return loads(text) if text else None
        except ValueError as error:
            raise forms.ValidationError(f"This is not JSON: {error}.") from None


def _bounds(shape: Mapping[str, Json]) -> dict[str, Any]:
    return {"min_value": shape.get("minimum"), "max_value": shape.get("maximum")}


def _number(step: str) -> forms.NumberInput:
    return forms.NumberInput(attrs={"step": step})


def _choice(shape: Mapping[str, Json], is_required: bool) -> forms.Field:
    values = list(shape["enum"])
    names = shape.get("x-labels") or [str(value) for value in values]
    choices = [(str(v), str(n)) for v, n in zip(values, names, strict=False)]
    if not is_required:
        choices = [("", "not set"), *choices]
    by_text = {str(value): value for value in values}
    return forms.TypedChoiceField(
        choices=choices,
        coerce=lambda text: by_text[text],
        required=is_required,
        empty_value=None,
        widget=forms.Select(),
    )


def _text(shape: Mapping[str, Json], is_required: bool) -> forms.Field:
    lengths: dict[str, Any] = {
        "min_length": shape.get("minLength"),
        "max_length": shape.get("maxLength") or LONGEST,
    }
    match shape.get("format"):
        case "date":
            widget = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
            return forms.DateField(required=is_required, widget=widget)
        case "email":
            widget_of_mail = forms.EmailInput(attrs={"autocomplete": "off"})
            return forms.EmailField(required=is_required, widget=widget_of_mail)
        case "textarea":
            area = forms.Textarea(attrs={"rows": 4})
            return forms.CharField(required=is_required, widget=area, **lengths)
        case _:
            line = forms.TextInput()
            return forms.CharField(required=is_required, widget=line, **lengths)


def is_wide(field: BoundField) -> bool:
    """Does it want the whole width of the form?"""
    return isinstance(field.field.widget, forms.Textarea)
