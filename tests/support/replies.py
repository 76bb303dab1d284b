"""What the scripted provider answers: one value per HTTP reply, and builders.

text("Done.")                          a final answer
calls(("calculate", {"expression": "1+1"}), text="I will add.")
plan("Read", "Send")                   the structured answer to a plan request
check(0.62, rules=[1])                 the structured answer to a check
error(429, "rate_limit_exceeded", {"retry-after": "1"})
raw(b"<html>", "text/html")            any bytes
hang(), drip(text("slow")), reset()    what networks do
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

DEFAULT_USAGE: Mapping[str, Any] = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
}

_call_numbers = itertools.count(1)


@dataclass(frozen=True)
class Answer:
    """One HTTP reply. `drip_s` is the pause after every byte; seconds throughout."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"content-type": "application/json"}
    )
    delay_s: float = 0.0
    drip_s: float = 0.0
    hangs: bool = False
    resets: bool = False


def completion(
    message: Mapping[str, Any] | None,
    *,
    finish: str | None = "stop",
    usage: Any = DEFAULT_USAGE,
    model: str = "scripted-model",
    **extra: Any,
) -> Answer:
    """A chat.completion around `message`; `usage=None` leaves the field out."""
    body: dict[str, Any] = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if usage is not None:
        body["usage"] = dict(usage) if isinstance(usage, Mapping) else usage
    return json_body(body | extra)


def json_body(value: Any, status: int = 200) -> Answer:
    return Answer(body=json.dumps(value).encode(), status=status)


def text(content: str, **more: Any) -> Answer:
    return completion({"role": "assistant", "content": content}, **more)


def call(name: str, arguments: Any = None, id: str | None = None) -> dict[str, Any]:  # noqa: A002
    """One entry of tool_calls; arguments that are no text are dumped as JSON."""
    raw_text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return {
        "id": f"call_{next(_call_numbers)}" if id is None else id,
        "type": "function",
        "function": {"name": name, "arguments": raw_text},
    }


def calls(
    *wanted: tuple[str, Any] | dict[str, Any], text: str | None = None, **more: Any
) -> Answer:
    """Tool calls, each `(name, arguments)` or an entry as `call` makes it."""
    entries = [item if isinstance(item, dict) else call(*item) for item in wanted]
    message = {"role": "assistant", "content": text, "tool_calls": entries}
    return completion(message, **{"finish": "tool_calls"} | more)


def plan(*items: str, **more: Any) -> Answer:
    return text(json.dumps({"items": [{"text": item} for item in items]}), **more)


def check(
    confidence: float,
    *,
    rules: Sequence[int] = (),
    rationale: str = "The arguments fit the task.",
    will_do: str = "Carry out the call once.",
    reversible: bool = False,
    side_effects: Sequence[str] = (),
    **more: Any,
) -> Answer:
    verdict = {
        "will_do": will_do,
        "confidence": confidence,
        "rationale": rationale,
        "reversible": reversible,
        "side_effects": list(side_effects),
        "rules_that_apply": list(rules),
    }
    return text(json.dumps(verdict), **more)


def error(
    status: int,
    code: str | int | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    message: str = "It did not work.",
    type: str | None = None,  # noqa: A002
    param: str | None = None,
) -> Answer:
    body = {
        "error": {"message": message, "type": type, "param": param, "code": code},
    }
    answer = json_body(body, status)
    return replace(answer, headers={**answer.headers, **(headers or {})})


def raw(
    body: bytes | str, content_type: str = "application/json", status: int = 200
) -> Answer:
    data = body.encode() if isinstance(body, str) else body
    return Answer(body=data, status=status, headers={"content-type": content_type})


def hang() -> Answer:
    """Takes the request and says nothing until the client goes away."""
    return Answer(hangs=True)


def drip(answer: Answer, pause_s: float = 0.05) -> Answer:
    """The same reply, one byte at a time."""
    return replace(answer, drip_s=pause_s)


def slow(answer: Answer, delay_s: float) -> Answer:
    return replace(answer, delay_s=delay_s)


def reset() -> Answer:
    """Closes the connection after the request, without a reply."""
    return Answer(resets=True)
