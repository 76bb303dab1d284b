"""A request's messages as the demo model reads them: task, calls, what people said."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from runs.canonical import Json


class Outcome(Enum):
    """How a call ended, as its result tells."""

    DONE = auto()
    FAILED = auto()
    REJECTED = auto()
    LEFT = auto()


@dataclass(frozen=True)
class Call:
    """A call the model made, and the text it got for it ("" if none yet)."""

    name: str
    arguments: Mapping[str, Json]
    result: str = ""

    @property
    def value(self) -> Json:
        """The JSON in the result, whatever stands around it; None if there is none."""
        return next(values_in(self.result), None)

    @property
    def outcome(self) -> Outcome:
        for beginning, outcome in _BEGINNINGS:
            if self.result.startswith(beginning):
                return outcome
        return Outcome.DONE

    @property
    def said(self) -> str:
        """What a person said in answer to it, without the words around."""
        text = self.result
        for words in ("Reason:", "A person answers:", "took effect.", "Error:"):
            text = text.partition(words)[2] or text
        return " ".join(text.split())

    @property
    def ran_with(self) -> Mapping[str, Json]:
        """The arguments it ran with: a person may have changed the model's."""
        edited = self.result.startswith("[A person changed")
        return self.value if edited and isinstance(self.value, dict) else self.arguments

    @property
    def was_edited(self) -> bool:
        return self.ran_with is not self.arguments


_BEGINNINGS = (
    ("A person rejected", Outcome.REJECTED),
    ("Not carried out", Outcome.LEFT),
    ("Error:", Outcome.FAILED),
)
_GUIDANCE = "Guidance from the people you work for:"
_PERSON = "A person reviewing this run says:"


@dataclass(frozen=True)
class Turn:
    """What the demo model answers: text, and calls as (name, arguments, plan item)."""

    text: str
    calls: Sequence[tuple[str, Mapping[str, Json], int]] = ()


@dataclass(frozen=True)
class Talk:
    """One request. `guidance` is what people said once and for all, `notes` what
    they said since, `nudge` what the engine says at the end, `plan` the items that
    the model wrote down."""

    system: str
    task: str
    calls: Sequence[Call] = ()
    guidance: Sequence[str] = ()
    notes: Sequence[str] = ()
    nudge: str = ""
    plan: Sequence[str] = ()
    tools: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)

    def of(self, name: str) -> list[Call]:
        return [call for call in self.calls if call.name == name]

    def last(self, name: str) -> Call | None:
        found = self.of(name)
        return found[-1] if found else None

    def has(self, name: str) -> bool:
        return name in self.tools


def read(body: Mapping[str, Json]) -> Talk:
    """The talk of a request's body; fields of the wrong type count as missing."""
    messages = [m for m in body.get("messages") or () if isinstance(m, Mapping)]
    users = [m for m in messages if m.get("role") == "user"]
    system = "\n".join(_text(m) for m in messages if m.get("role") in SYSTEM)
    kept = system.partition(_GUIDANCE)[2].splitlines()
    return Talk(
        system=system,
        guidance=[line.removeprefix("- ") for line in kept if line.startswith("- ")],
        task=_text(users[0]) if users else "",
        calls=_calls(messages),
        notes=[note for m in users if (note := _note(m))],
        nudge=_text(users[-1]) if users and messages[-1] is users[-1] else "",
        plan=_plan(messages),
        tools=_tools(body),
    )


SYSTEM = ("system", "developer")


def _text(message: Mapping[str, Json]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _calls(messages: Sequence[Mapping[str, Json]]) -> list[Call]:
    """In their order; an id that is used again belongs to the newest call."""
    found: list[Call] = []
    places: dict[str, int] = {}
    for message in messages:
        for entry in message.get("tool_calls") or ():
            function = entry["function"]
            places[entry["id"]] = len(found)
            found.append(Call(function["name"], _arguments(function["arguments"])))
        place = places.get(str(message.get("tool_call_id")))
        if message.get("role") == "tool" and place is not None:
            made = found[place]
            found[place] = Call(made.name, made.arguments, _text(message))
    return found


def _arguments(text: Json) -> Mapping[str, Json]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _note(message: Mapping[str, Json]) -> str:
    text = _text(message)
    return " ".join(text[len(_PERSON) :].split()) if text.startswith(_PERSON) else ""


def _plan(messages: Sequence[Mapping[str, Json]]) -> list[str]:
    for message in messages:
        if message.get("role") == "assistant":
            value = next(values_in(_text(message)), None)
            items = value.get("items") if isinstance(value, dict) else None
            return [str(item["text"]) for item in items or ()]
    return []


def _tools(body: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
    functions = [tool["function"] for tool in body.get("tools") or ()]
    return {f["name"]: f.get("parameters") or {} for f in functions}


def values_in(text: str) -> Iterator[Json]:
    """Each JSON object or list in a text, in order."""
    decoder = json.JSONDecoder()
    place = 0
    while (start := _next_bracket(text, place)) >= 0:
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = start + 1
        else:
            yield value


def _next_bracket(text: str, place: int) -> int:
    found = [at for at in (text.find("{", place), text.find("[", place)) if at >= 0]
    return min(found, default=-1)
