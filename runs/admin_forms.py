"""What an admin may enter about agents, tools and prices, checked before it counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import jsonschema
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.forms.fields import InvalidJSONInput

from agentops import redaction
from agentops.http import number
from runs import budgets
from runs.canonical import Json, clean_text
from runs.errors import BadInput
from runs.guidance import MAX_LENGTH
from runs.models import Agent, Guidance, Price, Tool
from runs.tools import choices, registry
from runs.values import Policy

MOST = {"prompt": 100_000, "task_template": 20_000, "description": 2_000}
"""Characters that a text of an agent may have; each run keeps the prompt, in every call."""
MOST_JSON = 100_000
MOST_RULES, MOST_RULE = 50, 500
"""A check answers which rules apply, and a notice quotes them."""
GRANT_KEYS = {"policy", "threshold", "settings"}
_PLACE = re.compile(r"\{([A-Za-z_]\w*)\}")


class PrettyJson(json.JSONEncoder):
    """JSON over several lines, for people who edit it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**(options | {"indent": 2}))


class JsonArea(forms.JSONField):
    """A JSON value that may be left empty for `empty`."""

    def __init__(self, *, empty: Callable[[], Json], **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 8, "cols": 80, "spellcheck": "false"})
        super().__init__(
            required=False,
            encoder=PrettyJson,
            widget=widget,
            initial=empty,
            **options,
        )
        self.empty = empty

    def clean(self, value: Any) -> Json:
        cleaned = super().clean(value)
        return self.empty() if cleaned is None else cleaned

    def to_python(self, value: Any) -> Any:
        """What is too deep, or has a number too long, is as wrong as any other text."""
        if isinstance(value, str):
            MaxLengthValidator(MOST_JSON)(value)
        try:
            return super().to_python(value)
        except (ValueError, RecursionError) as error:
            raise self._not_read(value) from error

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except (ValueError, RecursionError):
            return InvalidJSONInput(data)

    def _not_read(self, value: str) -> ValidationError:
        wrong, shown = self.error_messages["invalid"], {"value": value[:100]}
        return ValidationError(wrong, code="invalid", params=shown)


class KnownRows(forms.ModelMultipleChoiceField):
    """Chosen rows; of a number that no database can hold there is none."""

    def clean(self, value: Any) -> Any:
        unknown = [one for one in value or () if not number(str(one))]
        if unknown:
            wrong, shown = self.error_messages["invalid_pk_value"], {"pk": "…"}
            raise ValidationError(wrong, code="invalid_pk_value", params=shown)
        return super().clean(value)


class AgentForm(forms.ModelForm):
    """An agent. What it refuses would else fail a run hours later."""

    grants = JsonArea(
        empty=dict,
        label="Tools",
        help_text='{"send_email": {"policy": "ask_below", "threshold": 0.8}}. '
        "Policies: auto, ask_below (the threshold), always, blocked. "
        "settings go over those of the tool.",
    )
    review_when = JsonArea(
        empty=list,
        help_text='Rules in plain words: ["A month grows more than 30 %"]. '
        "A rule that applies parks the run, however sure the model is.",
    )
    limits = JsonArea(
        empty=dict,
        label="Budgets",
        help_text='{"steps": 25, "seconds": 600, "money": "0.50", "tokens": 200000}.'
        " A missing one takes the installation's default, null is no limit.",
    )
    input_schema = JsonArea(
        empty=lambda: {"type": "object", "properties": {}},
        label="Form",
        help_text="JSON Schema of the form that people fill in.",
    )

    class Meta:
        model = Agent
        fields = "__all__"  # noqa: DJ007 - an admin sets all of it

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, most in MOST.items():
            self.fields[name].validators.append(MaxLengthValidator(most))

    def clean_grants(self) -> dict[str, Json]:
        grants = _with_its_secrets(self.cleaned_data["grants"], self.instance.grants)
        _refuse(grant_problems(grants))
        return dict(grants)

    def clean_review_when(self) -> list[str]:
        rules = self.cleaned_data["review_when"]
        is_right = isinstance(rules, list) and all(
            isinstance(rule, str) and rule.strip() for rule in rules
        )
        _refuse([] if is_right else ["This must be a list of rules in words."])
        _refuse(too_many(rules))
        return [rule.strip() for rule in rules]

    def clean_limits(self) -> dict[str, Json]:
        limits = self.cleaned_data["limits"]
        if not isinstance(limits, dict):
            raise forms.ValidationError("This must be an object of budgets.")
        try:
            return budgets.read_limits(limits, {})
        except BadInput as error:
            raise forms.ValidationError(list(error.fields.values())) from None

    def clean_input_schema(self) -> dict[str, Json]:
        schema = self.cleaned_data["input_schema"]
        _refuse(schema_problems(schema))
        return dict(schema)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        self._check_template()
        self._check_window()
        return cleaned

    def _check_template(self) -> None:
        schema = self.cleaned_data.get("input_schema")
        template = self.cleaned_data.get("task_template", "")
        if schema is None or not schema.get("properties"):
            return
        unknown = set(_PLACE.findall(template)) - set(schema["properties"])
        if unknown:
            names = ", ".join(sorted(unknown))
            self.add_error("task_template", f"The form has no field called {names}.")

    def _check_window(self) -> None:
        window = self.cleaned_data.get("context_window")
        output = self.cleaned_data.get("max_output_tokens")
        if output == 0:
            self.add_error("max_output_tokens", "This must be more than 0.")
        if window is not None and output is not None and output >= window:
            words = "This must be more than the longest output."
            self.add_error("context_window", words)


class ToolForm(forms.ModelForm):
    settings = JsonArea(
        empty=dict, help_text="What the tool itself reads; secrets do not belong here."
    )

    class Meta:
        model = Tool
        fields = "__all__"  # noqa: DJ007 - an admin sets all of it

    def clean_settings(self) -> dict[str, Json]:
        settings = _with_its_secrets(
            self.cleaned_data["settings"], self.instance.settings
        )
        if not isinstance(settings, dict):
            raise forms.ValidationError("This must be an object.")
        _refuse(_setting_problems(self.instance.name, settings))
        return settings

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        for name in ("timeout_s", "attempts", "result_limit"):
            value = self.cleaned_data.get(name)
            if value is not None and value <= 0:
                self.add_error(name, "This must be more than 0.")
        return cleaned


class PriceForm(forms.ModelForm):
    class Meta:
        model = Price
        fields = ("model", "input", "cached", "output")
        help_texts = {
            "model": "As the agent names it. This beats the list price.",
            "input": "US dollars per million tokens; 0 for a local model.",
            "output": "US dollars per million tokens.",
        }

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        for name in ("input", "cached", "output"):
            value = self.cleaned_data.get(name)
            if value is not None and value < 0:
                self.add_error(name, "This must not be negative.")
        return cleaned


def too_many(rules: Sequence[str]) -> list[str]:
    """Which bounds the rules of an agent go beyond, in words."""
    problems = [
        f"Rule {place} has {len(rule):,} characters, at most {MOST_RULE} go."
        for place, rule in enumerate(rules, 1)
        if len(rule) > MOST_RULE
    ]
    if len(rules) > MOST_RULES:
        problems.append(f"These are {len(rules):,} rules, at most {MOST_RULES} go.")
    return problems


def grant_problems(grants: Json) -> list[str]:
    """What is wrong with an agent's grants, in words; empty if nothing is."""
    if not isinstance(grants, dict):
        return ["This must be an object of tools."]
    known = {spec.name for spec in registry.all_specs()}
    problems = []
    for name, grant in grants.items():
        if name not in known:
            names = ", ".join(sorted(known))
            problems.append(f"There is no tool called {name}. There are: {names}.")
        elif not isinstance(grant, dict):
            problems.append(f"{name}: this must be an object.")
        else:
            found = _grant_problems(grant) or _setting_problems(
                name, grant.get("settings", {})
            )
            problems += [f"{name}: {problem}" for problem in found]
    return problems


def _grant_problems(grant: Mapping[str, Json]) -> list[str]:
    problems = [f"there is no setting {key}." for key in set(grant) - GRANT_KEYS]
    policies = [policy.value for policy in Policy]
    if grant.get("policy", Policy.ASK_BELOW) not in policies:
        problems.append(f"the policy must be one of {', '.join(policies)}.")
    if not _is_share(grant.get("threshold")):
        problems.append("the threshold must be a number from 0 to 1.")
    if not isinstance(grant.get("settings", {}), dict):
        problems.append("the settings must be an object.")
    return problems


def _setting_problems(name: str, settings: Mapping[str, Json]) -> list[str]:
    """What the tool, if it is installed, does not take of its settings."""
    known = {spec.name: spec.choices for spec in registry.all_specs()}
    return choices.problems(known.get(name), settings)


def _is_share(value: Json) -> bool:
    if value is None:
        return True
    try:
        share = Decimal(str(value))
    except InvalidOperation:
        return False
    return not isinstance(value, bool) and share.is_finite() and 0 <= share <= 1


def schema_problems(schema: Json) -> list[str]:
    """What is wrong with the JSON Schema of an agent's form, in words."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return ['This must be a JSON Schema of "type": "object".']
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = ".".join(str(part) for part in error.path)
        return [f"This is no JSON Schema: {where or 'schema'}: {error.message}"]
    return []


def _with_its_secrets(entered: Json, before: Json) -> Json:
    """What is kept of settings that lost their secrets on the way (`agentops.typed`).

    As they were, if nothing else was changed: who switches a tool off must not break it.
    Else it is refused, since a tool would take the placeholder for what it stands for.
    """
    if not redaction.has_placeholder(entered):
        return entered
    if entered == json.loads(redaction.hide(json.dumps(before, cls=PrettyJson))):
        return before
    raise forms.ValidationError(
        "A secret is not kept here. Leave it in the environment, and name what it is for"
        " in another way: a database by its alias or AGENTOPS_TOOL_DATABASE_URL."
    )


def _refuse(problems: list[str]) -> None:
    if problems:
        raise forms.ValidationError(problems)


class GuidanceForm(forms.ModelForm):
    """Kept guidance: for one agent or for one tool, never for both."""

    tool = forms.ChoiceField(required=False, choices=())

    class Meta:
        model = Guidance
        fields = ("agent", "tool", "text", "enabled", "expires_at")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        names = {*(spec.name for spec in registry.all_specs()), self.instance.tool} - {
            ""
        }
        choices = [("", "any"), *((name, name) for name in sorted(names))]
        self.fields["tool"] = forms.ChoiceField(
            required=False,
            choices=choices,
            help_text="For every agent that may use it. Either this or an agent.",
        )

    def clean_text(self) -> str:
        text = clean_text(self.cleaned_data["text"]).strip()
        if len(text) > MAX_LENGTH:
            raise forms.ValidationError(f"At most {MAX_LENGTH:,} characters.")
        return text

    def clean(self) -> dict[str, Any]:
        entered = super().clean() or {}
        if bool(entered.get("agent")) == bool(entered.get("tool")):
            raise forms.ValidationError("Choose an agent or a tool, one of the two.")
        return entered
