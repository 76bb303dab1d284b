"""A chat completion as a `Reply`: every odd shape that endpoints send, read once.

Nothing here trusts a type: a field that is not what it should be counts as
missing. Raises `Refused` and what `failures` makes of a body without an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NoReturn

from runs.canonical import Json, clean, clean_text
from runs.classify import told
from runs.errors import Refused, Transient
from runs.llm import failures
from runs.llm.base import RawCall, Reply, Usage

REASONING = ("reasoning_content", "reasoning", "reasoning_details")
"""Where endpoints put what a model thought; some want it back, others refuse it."""
MAX_CALLS = 100
"""Of one reply: each costs a step, and all of them go back with the next request."""


def parse(
    content: bytes, secrets: Iterable[str] = (), echo: Iterable[str] = ()
) -> Reply:
    """The reply in the body of a 200; `echo` names fields that go back unchanged.

    Raises `Transient` for what is no answer (a page, cut JSON, no choices),
    `Fatal` or `ContextTooLong` if its error says so, `Refused` if it was
    filtered or declined. Text is cleaned, usage is None where it is no use.
    """
    payload = _json(content, secrets)
    message, finish_reason = _first_choice(payload, secrets)
    text, declined = _text(message.get("content"))
    refusal = clean_text(_string(message.get("refusal")) or declined)
    if finish_reason == "content_filter" or refusal:
        _refused(finish_reason, refusal or text)
    entries = _entries(message.get("tool_calls"))
    read = [_call(entry) for entry in entries[:MAX_CALLS]]
    calls = tuple(call for call in read if call.id or not call.problem)
    return Reply(
        content=clean_text(text),
        calls=calls,
        finish_reason=clean_text(finish_reason),
        reasoning=clean_text(_reasoning(message)),
        usage=read_usage(payload.get("usage")),
        model=clean_text(_string(payload.get("model"))),
        echo={name: clean(message[name]) for name in echo if message.get(name)},
        ignored=len(read) - len(calls),
        surplus=len(entries) - len(read),
    )


def _json(content: bytes, secrets: Iterable[str]) -> Mapping[str, Json]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _no_answer("that is not UTF-8", "", secrets) from None
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        what = "that is not JSON" if text.strip() else "without a body"
        raise _no_answer(what, text, secrets) from None
    if not isinstance(payload, Mapping):
        raise _no_answer("that is no JSON object", text, secrets)
    return payload


def _no_answer(what: str, text: str, secrets: Iterable[str]) -> Transient:
    words = failures.plain(text)
    quote = f": {words}" if words else "."
    full = f"The endpoint sent a reply {what}{quote}"
    return Transient(told(full, secrets), maybe_billed=True)


def _first_choice(
    payload: Mapping[str, Json], secrets: Iterable[str]
) -> tuple[Mapping[str, Json], str]:
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        about = payload if payload.get("error") else {"error": ""}
        raise failures.from_error_object(about, secrets)
    return message, _string(choice.get("finish_reason"))


def _refused(finish_reason: str, text: str) -> NoReturn:
    filtered = finish_reason == "content_filter"
    head = (
        "The endpoint's filter stopped the reply" if filtered else "The model declined"
    )
    raise Refused(told(f"{head}: {text}" if text.strip() else f"{head}."))


def _text(content: Json) -> tuple[str, str]:
    """Text and refusal of a content that is text, parts, or nothing."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return "", ""
    texts, refusals = [], []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            texts.append(_string(part.get("text")))
            refusals.append(_string(part.get("refusal")))
    return "".join(texts), "".join(refusals)


def _entries(value: Json) -> list[Json]:
    """What stands where calls do: a list, or one entry alone."""
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else []


def _call(entry: Json) -> RawCall:
    if not isinstance(entry, Mapping):
        return RawCall("", "", None, "An entry of tool_calls is no object.")
    call_id = _id(entry.get("id"))
    function = entry.get("function")
    kind = _string(entry.get("type")) or "function"
    if kind == "function" and isinstance(function, Mapping):
        name = clean_text(_string(function.get("name")))
        return RawCall(call_id, name, *_arguments(function.get("arguments")))
    inner = entry.get(kind)
    name = _string(inner.get("name")) if isinstance(inner, Mapping) else ""
    problem = f"This is no function call but a call of type {kind!r}."
    if kind == "function":
        problem = "The call has no function."
    return RawCall(call_id, clean_text(name or kind), None, clean_text(problem))


def _id(value: Json) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return clean_text(str(value) if is_number else _string(value))


def _arguments(value: Json) -> tuple[str | None, str]:
    """Arguments as text, and problem. Whoever runs the call parses them.

    An object becomes its text, so that it meets the same strict parser.
    """
    if value is None:
        return None, ""
    try:
        text = (
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
    except RecursionError:
        return None, "The arguments are nested too deep."
    return clean_text(text), ""


def read_usage(value: Json) -> Usage | None:
    """Tokens, or None where a figure is missing, negative or no number.

    Endpoints that count reasoning outside of the completion show it in the total;
    then the total decides what the output was.
    """
    if not isinstance(value, Mapping):
        return None
    read = _count(value.get("prompt_tokens"))
    total = _count(value.get("total_tokens"))
    written = _count(value.get("completion_tokens"))
    if read is None or (written is None and total is None):
        return None
    output = max(written or 0, (total or 0) - read)
    if output < 0 or read < 0 or (written or 0) < 0:
        return None
    return Usage(input=read, output=output, cached=min(_cached(value), read))


def _cached(usage: Mapping[str, Json]) -> int:
    details = usage.get("prompt_tokens_details")
    found = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return max(_count(found) or 0, 0)


def _count(value: Json) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return int(number) if abs(number) < 1e12 else None


def _reasoning(message: Mapping[str, Json]) -> str:
    return next((text for n in REASONING if (text := _string(message.get(n)))), "")


def _string(value: Json) -> str:
    return value if isinstance(value, str) else ""
