"""What the engine asks of a model, and what it gets back.

A client is one object per process, used from many threads at once. It makes one
request per call, never retries, keeps the total deadline, and raises the errors
of `runs.errors`: `Transient` (with `retry_after`, and `maybe_billed` when the
answer may have been paid for), `Fatal`, `Refused`, `ContextTooLong`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from runs.canonical import Json

DEMO_MODEL = "demo-model"
"""The name under which the demo model answers; it has the price 0."""

Message = dict[str, Json]
"""One message as the endpoint takes it: role, content, tool_calls, tool_call_id."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; `cached` is part of `input`. None of them is negative."""

    input: int
    output: int
    cached: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True)
class RawCall:
    """A tool call as the model made it: `arguments` is text, an object or None.

    `id` is "" where the endpoint gave none. `problem` says why an entry is no
    function call at all, "" if it is one.
    """

    id: str
    name: str
    arguments: Json
    problem: str = ""


@dataclass(frozen=True)
class Request:
    """One model call.

    `messages` and `tools` are sent as they are and must not be changed by the
    client. `schema` asks for JSON of that shape: {"name": …, "schema": JSON Schema}.
    `encoded` is each message as JSON text, for a caller that has it anyway: then
    that is what is sent, and a long history costs no encoding.
    """

    model: str
    messages: Sequence[Message]
    max_output_tokens: int
    deadline_s: float
    tools: Sequence[Json] = ()
    schema: Mapping[str, Json] | None = None
    encoded: Sequence[str] = ()


@dataclass(frozen=True)
class Reply:
    """What came back, cleaned: text is storable, unknown fields are dropped.

    `usage` is None where the endpoint gave no usable figures. `model` is what
    the endpoint says it ran. `refusal` is its refusal text, if any. `echo` holds
    fields of the message that this endpoint wants back with it, unchanged.
    `ignored` counts entries among the calls that were none, `surplus` calls
    beyond what one reply may hold.
    """

    content: str = ""
    calls: tuple[RawCall, ...] = ()
    finish_reason: str = ""
    refusal: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    model: str = ""
    echo: Mapping[str, Json] = field(default_factory=dict)
    ignored: int = 0
    surplus: int = 0


class ModelClient(Protocol):
    label: str
    """For people: "demo model", or the endpoint's host."""

    def complete(self, request: Request) -> Reply:
        """Make the call; raises the errors named above, and no others."""
