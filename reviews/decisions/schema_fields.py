"""Form fields for the arguments of a tool, from its JSON Schema, types kept.

What a browser can only send as text comes back as the type the schema asks for, and
an argument nobody touched comes back as it was: absent stays absent, null stays
null, line ends stay what they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from runs.canonical import Json, clean, dumps, loads

LONG = 80


@dataclass(frozen=True)
class Argument:
    """One argument: `shape` is its schema without null, `was` its value or None."""

    name: str
    shape: Mapping[str, Json]
    is_required: bool
    is_nullable: bool
    is_given: bool
    was: Json

    def field(self) -> forms.Field:
        """The field, showing what the argument is now."""
        field = _FIELDS[self.widget](self)
        field.label = self.name.replace("_", " ").capitalize()
        field.help_text = str(self.shape.get("description", ""))
        field.initial = self.shown
        return field

    @property
    def widget(self) -> str:
        """Which field shows it: choice, flag, lines, json, number, integer, text."""
        kind = self.shape.get("type")
        if "enum" in self.shape or "const" in self.shape:
            return "choice"
        if kind == "boolean":
            return "flag"
        if kind == "array" and _is_lines(self):
            return "lines"
        if kind in {"integer", "number"}:
            return str(kind)
        return "text" if kind == "string" and _is_text(self.was) else "json"

    @property
    def shown(self) -> Any:
        if not self.is_given or self.was is None:
            return None if self.widget != "choice" else ""
        match self.widget:
            case "lines":
                return "\n".join(self.was)
            case "json":
                return _pretty(self.was)
            case "choice" | "flag" | "number":
                return dumps(self.was)
            case _:
                return self.was

    def put(self, entered: Any, into: dict[str, Json]) -> None:
        """Write the value entered into the arguments; ValueError says what is wrong."""
        if entered in (None, ""):
            self._put_blank(into)
        else:
            into[self.name] = clean(self._value(entered))

    def _put_blank(self, into: dict[str, Json]) -> None:
        if self.is_given and self.was in (None, "", []):
            into[self.name] = self.was
        elif self.is_required or (self.is_given and self.widget == "text"):
            into[self.name] = self._blank()

    def _blank(self) -> Json:
        if self.is_nullable:
            return None
        if self.widget in {"text", "lines"}:
            return "" if self.widget == "text" else []
        raise ValueError("This is needed.")

    def _value(self, entered: Any) -> Json:
        match self.widget:
            case "choice" | "flag" | "json":
                return _parsed(str(entered))
            case "number":
                return _number(str(entered))
            case "lines":
                return [line for line in _unix(str(entered)).split("\n") if line]
            case "text":
                return self._text(str(entered))
            case _:
                return entered

    def _text(self, entered: str) -> str:
        """A browser sends every line end as CR LF, whatever it was given."""
        if isinstance(self.was, str) and _unix(self.was) == _unix(entered):
            return self.was
        return _unix(entered)


def arguments_of(
    schema: Mapping[str, Json], given: Mapping[str, Json]
) -> list[Argument]:
    """In the schema's order; what the schema does not know comes last, as JSON."""
    properties = schema.get("properties", {})
    names = [*properties, *(name for name in given if name not in properties)]
    return [_argument(name, properties.get(name, {}), schema, given) for name in names]


def _argument(
    name: str,
    shape: Mapping[str, Json],
    schema: Mapping[str, Json],
    given: Mapping[str, Json],
) -> Argument:
    plain, is_nullable = _without_null(shape)
    return Argument(
        name=name,
        shape=plain,
        is_required=name in schema.get("required", []),
        is_nullable=is_nullable,
        is_given=name in given,
        was=given.get(name),
    )


def _without_null(shape: Mapping[str, Json]) -> tuple[Mapping[str, Json], bool]:
    kinds = shape.get("anyOf")
    if not kinds:
        return shape, shape.get("type") == "null"
    others = [kind for kind in kinds if kind.get("type") != "null"]
    is_nullable = len(others) < len(kinds)
    if len(others) != 1:
        return {"description": shape.get("description", "")}, is_nullable
    words = {key: shape[key] for key in ("description", "title") if key in shape}
    return {**others[0], **words}, is_nullable


def _is_text(value: Json) -> bool:
    return value is None or isinstance(value, str)


def _is_lines(argument: Argument) -> bool:
    """A list of texts that one line each can show without loss."""
    items = argument.shape.get("items", {})
    if items.get("type") != "string" or "enum" in items:
        return False
    was = argument.was if argument.is_given and argument.was is not None else []
    return isinstance(was, list) and all(
        isinstance(item, str) and item and _unix(item).split("\n") == [item]
        for item in was
    )


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _pretty(value: Json) -> str:
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)


def _parsed(text: str) -> Json:
    try:
        return loads(text)
    except ValueError as error:
        raise ValueError(f"This is not JSON: {error}.") from None


def _number(text: str) -> Json:
    value = _parsed(text.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("Enter a number.")
    return value


def _text_field(argument: Argument) -> forms.Field:
    was = argument.was or ""
    is_long = (
        len(was) > LONG
        or "\n" in _unix(was)
        or argument.shape.get("maxLength", 0) > 1000
    )
    widget = forms.Textarea(attrs={"rows": 8}) if is_long else forms.TextInput()
    return forms.CharField(required=False, strip=False, widget=widget)


def _area(rows: int, classes: str) -> forms.Field:
    widget = forms.Textarea(attrs={"rows": rows, "class": classes})
    return forms.CharField(required=False, strip=False, widget=widget)


def _lines_field(argument: Argument) -> forms.Field:
    return _area(max(2, len(argument.was or [])), "lines")


def _json_field(argument: Argument) -> forms.Field:
    return _area(6, "code")


def _integer_field(argument: Argument) -> forms.Field:
    return forms.IntegerField(required=False)


def _number_field(argument: Argument) -> forms.Field:
    return forms.CharField(
        required=False, widget=forms.TextInput(attrs={"inputmode": "decimal"})
    )


def _choice_field(argument: Argument) -> forms.Field:
    only = [argument.shape.get("const")]
    values = list(argument.shape.get("enum", only))
    if argument.is_given and argument.was not in values:
        values.append(argument.was)
    return _select(argument, [(dumps(value), str(value)) for value in values])


def _flag_field(argument: Argument) -> forms.Field:
    return _select(argument, [("true", "yes"), ("false", "no")])


def _select(argument: Argument, choices: list[tuple[str, str]]) -> forms.Field:
    if not argument.is_required or argument.is_nullable:
        choices = [("", "not set"), *choices]
    return forms.ChoiceField(required=False, choices=choices)


_FIELDS = {
    "text": _text_field,
    "lines": _lines_field,
    "json": _json_field,
    "integer": _integer_field,
    "number": _number_field,
    "choice": _choice_field,
    "flag": _flag_field,
}
