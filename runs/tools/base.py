"""What a tool is: a typed function, its declared effect, and how long it may take.

    @tool(effect=Effect.READ)
    def look_up(key: str, context: Context) -> dict[str, str]:
        "Look one record up by its key."

The parameters become the JSON Schema the model sees (the docstring's first
paragraph is the description); a parameter named `context` is filled by us. A tool
raises the errors of `runs.errors`; whatever else escapes counts as fatal.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from runs.canonical import Json, clean_object, clean_text
from runs.errors import Fatal, InvalidCall, StepError, TimedOut
from runs.tools.asking import said
from runs.tools.choices import Choices, problems

CONTEXT = "context"
PLAN_ITEM = "plan_item"
MOST_WORDS = 4_000
MAX_TEXT = 90_000
"""Characters of the longest text in a call: it fits into `canonical.MAX_ARGUMENTS`."""


class Effect(StrEnum):
    READ = "read"
    IDEMPOTENT = "idempotent"
    IRREVERSIBLE = "irreversible"


IRREVERSIBLE = Effect.IRREVERSIBLE.value
"""As requests, parks and rows have it."""


class Asks(StrEnum):
    """What a tool that is answered by a person asks for."""

    QUESTION = "question"
    ESCALATION = "escalation"


class Reconciled(StrEnum):
    HAPPENED = "happened"
    NOT_HAPPENED = "not_happened"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Deadline:
    """A moment of the monotonic clock after which an act must have ended."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left; raises `TimedOut` when there are none."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimedOut("The tool did not answer within its deadline.")
        return left


@dataclass(frozen=True)
class Context:
    """What a call knows besides its arguments.

    `key` is the idempotency key (64 hex digits), the same in every try.
    `settings` is the JSON an admin set on the tool. `attempt` counts from 1.
    """

    run_id: str
    step: int
    key: str
    deadline: Deadline
    attempt: int = 1
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Preview:
    """What a call would do, for people: `fields` are (label, value, kind) rows.

    `kind` is one of text, email, url, markdown, json, code.
    """

    headline: str
    fields: tuple[tuple[str, str, str], ...] = ()
    warning: str = ""


@dataclass(frozen=True)
class Reconciliation:
    outcome: Reconciled
    result: Json = None
    evidence: str = ""


Arguments = dict[str, Json]


_SPELT = {"email": "e-mail", "http": "HTTP", "sql": "SQL", "url": "URL"}


def titled(name: str) -> str:
    """A tool's name in words, whether or not it still exists."""
    words = " ".join(_SPELT.get(word, word) for word in name.split("_") if word)
    return words[:1].upper() + words[1:] or "Tool"


@dataclass(frozen=True)
class ToolSpec:
    """A registered tool; everything about it that is not an admin's choice.

    `effect_of` may look at the arguments. `describe` says verb and object in words
    ("Send e-mail to ana@example.com"). `reconcile` finds out whether a call of an
    irreversible tool took effect. `asks` marks tools a person answers: these are
    never performed. `isolated` tools run in a child process that can be killed;
    those with `keeps_deadline` end by themselves and run in the calling thread, all
    others in a thread that is given up at the deadline. `check` refuses, by
    `InvalidCall`, what an admin's settings do not allow, before anybody is asked to
    approve the call; it is pure. `choices` names the settings that an admin may give;
    without it any are taken.
    """

    name: str
    description: str
    parameters: dict[str, Json]
    effect: Effect
    function: Callable[..., Any]
    model: type[BaseModel]
    effect_of: Callable[[Arguments], Effect] | None = None
    describe: Callable[[Arguments], str] | None = None
    preview: Callable[[Arguments, Context], Preview] | None = None
    reconcile: Callable[[Arguments, Context], Reconciliation] | None = None
    check: Callable[[Arguments, Mapping[str, Json]], None] | None = None
    choices: type[Choices] | None = None
    asks: Asks | None = None
    isolated: bool = False
    keeps_deadline: bool = False
    untrusted: bool = False
    timeout_s: float | None = None
    attempts: int | None = None
    wants_context: bool = False

    def effect_for(self, arguments: Arguments) -> Effect:
        """Raises `Fatal` where the tool cannot tell."""
        tell = self.effect_of
        if tell is None:
            return self.effect
        return said(
            self.name, "tell the effect of its call", lambda: Effect(tell(arguments))
        )

    def words(self, arguments: Arguments) -> str:
        """Verb and object in words; never raises."""
        describe = self.describe
        if describe is None:
            return self.title
        try:
            found = said(
                self.name,
                "describe its call",
                lambda: str(describe(arguments) or "")[:MOST_WORDS],
            )
        except (StepError, ValidationError):
            return self.title  # a call does not fail for words
        return clean_text(found) or self.title

    @property
    def title(self) -> str:
        return titled(self.name)

    def validate(self, arguments: Mapping[str, Json]) -> Arguments:
        """The arguments as the tool will get them, JSON types kept.

        Raises `InvalidCall` naming each field that is wrong, and `Fatal` where the
        tool's own types are at fault.
        """
        given = dict(arguments)

        def plain() -> Arguments:
            checked = self.model.model_validate(given)
            return clean_object(checked.model_dump(mode="json", exclude_unset=True))

        try:
            return said(self.name, "check its arguments", plain)
        except ValidationError as error:
            raise InvalidCall(_feedback(self.name, error)) from None

    def vet(self, arguments: Arguments, settings: Mapping[str, Json]) -> None:
        """Raises `InvalidCall` for what the settings of the tool do not allow, and
        `Fatal` where the tool cannot tell or the settings are not right."""
        wrong = problems(self.choices, settings)
        if wrong:
            raise Fatal(f"The settings of {self.name} are wrong: {'; '.join(wrong)}.")
        check = self.check
        if check is not None:
            said(self.name, "check its call", lambda: check(arguments, settings))

    def call(self, arguments: Arguments, context: Context) -> Any:
        """Run the function; raises what it raises, and `InvalidCall`."""
        checked = self._checked(arguments)
        values = {name: getattr(checked, name) for name in type(checked).model_fields}
        if self.wants_context:
            values[CONTEXT] = context
        return self.function(**values)

    def problems(self, arguments: Mapping[str, Json]) -> dict[str, str]:
        """What is wrong with the arguments, by their dotted names; raises `Fatal`."""
        try:
            self._validated(arguments)
        except ValidationError as error:
            return {
                ".".join(map(str, item["loc"])): item["msg"]
                for item in error.errors(include_url=False, include_input=False)
            }
        return {}

    def _checked(self, arguments: Mapping[str, Json]) -> BaseModel:
        try:
            return self._validated(arguments)
        except ValidationError as error:
            raise InvalidCall(_feedback(self.name, error)) from None

    def _validated(self, arguments: Mapping[str, Json]) -> BaseModel:
        given = dict(arguments)
        return said(
            self.name, "check its arguments", lambda: self.model.model_validate(given)
        )


def tool(
    *,
    effect: Effect,
    name: str | None = None,
    effect_of: Callable[[Arguments], Effect] | None = None,
    describe: Callable[[Arguments], str] | None = None,
    preview: Callable[[Arguments, Context], Preview] | None = None,
    reconcile: Callable[[Arguments, Context], Reconciliation] | None = None,
    check: Callable[[Arguments, Mapping[str, Json]], None] | None = None,
    choices: type[Choices] | None = None,
    asks: Asks | None = None,
    isolated: bool = False,
    keeps_deadline: bool = False,
    untrusted: bool = False,
    timeout_s: float | None = None,
    attempts: int | None = None,
) -> Callable[[Callable[..., Any]], ToolSpec]:
    """Turn a typed function into a `ToolSpec`; raises TypeError if it has no types.

    `timeout_s` and `attempts` are defaults that an admin may change per tool.
    """

    def decorate(function: Callable[..., Any]) -> ToolSpec:
        model = _arguments_model(function)
        return ToolSpec(
            name=name or function.__name__,
            description=_first_paragraph(function),
            parameters=_schema(model),
            effect=effect,
            function=function,
            model=model,
            effect_of=effect_of,
            describe=describe,
            preview=preview,
            reconcile=reconcile,
            check=check,
            choices=choices,
            asks=asks,
            isolated=isolated,
            keeps_deadline=keeps_deadline,
            untrusted=untrusted,
            timeout_s=timeout_s,
            attempts=attempts,
            wants_context=CONTEXT in inspect.signature(function).parameters,
        )

    return decorate


def _arguments_model(function: Callable[..., Any]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == CONTEXT:
            continue
        if name == PLAN_ITEM:
            raise TypeError(f"{function.__name__}: {PLAN_ITEM} is a name of ours")
        if name not in hints:
            raise TypeError(f"{function.__name__}: parameter {name} has no type")
        required = parameter.default is inspect.Parameter.empty
        fields[name] = (hints[name], ... if required else parameter.default)
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return create_model(f"{function.__name__}_arguments", __config__=config, **fields)


def _schema(model: type[BaseModel]) -> dict[str, Json]:
    schema = model.model_json_schema()
    schema.pop("title", None)
    for field_schema in schema.get("properties", {}).values():
        field_schema.pop("title", None)
    return schema


def _first_paragraph(function: Callable[..., Any]) -> str:
    doc = inspect.getdoc(function)
    if not doc:
        raise TypeError(f"{function.__name__} needs a docstring: the model reads it")
    return " ".join(doc.split("\n\n")[0].split())


def _feedback(name: str, error: ValidationError) -> str:
    problems = "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)[:10]
    )
    return f"The arguments of {name} do not fit: {problems}."


__all__ = [
    "Arguments",
    "Asks",
    "Context",
    "Deadline",
    "Effect",
    "Preview",
    "Reconciled",
    "Reconciliation",
    "ToolSpec",
    "tool",
]
