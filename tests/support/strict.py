"""What the strictest provider would say about a request: the log without problems.

Each tool call id is answered exactly once and before anything else is said,
arguments are text that parses to an object, no message is empty, no field is
unknown, and JSON schemas are closed as strict mode wants them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
ROLES = {
    "system": {"role", "content"},
    "developer": {"role", "content"},
    "user": {"role", "content"},
    "assistant": {"role", "content", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}
FIELDS = {
    "model",
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "max_completion_tokens",
}


def problems(
    body: Any,
    *,
    more_fields: frozenset[str] = frozenset(),
    more_message_fields: frozenset[str] = frozenset(),
) -> list[str]:
    """What is wrong with a request body, in words; nothing if it is right."""
    if not isinstance(body, Mapping):
        return ["the body is no object"]
    found = [f"unknown field {name}" for name in set(body) - FIELDS - more_fields]
    if not isinstance(body.get("model"), str) or not body["model"]:
        found.append("no model")
    found.extend(_about_messages(body.get("messages"), more_message_fields))
    found.extend(_about_tools(body.get("tools")))
    found.extend(_about_format(body.get("response_format")))
    found.extend(_about_limit(body.get("max_completion_tokens")))
    return found


def _about_limit(limit: Any) -> Iterator[str]:
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        yield f"max_completion_tokens is {limit!r}"


def _about_messages(messages: Any, more: frozenset[str]) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages is no list or empty"
        return
    open_ids: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ROLES:
            yield f"{where}: role {role!r}"
            continue
        for name in set(message) - ROLES[role] - more:
            yield f"{where}: unknown field {name}"
        if role == "tool":
            yield from _answered(message, open_ids, where)
            continue
        if open_ids:
            yield f"{where}: calls {open_ids} were not answered before"
            open_ids = []
        yield from _about_content(message, where)
        if role == "assistant":
            yield from _about_calls(message.get("tool_calls"), open_ids, where)
    if open_ids:
        yield f"at the end calls {open_ids} are not answered"
    if isinstance(messages[-1], Mapping) and messages[-1].get("role") == "assistant":
        yield "the last message is the assistant's"


def _answered(
    message: Mapping[str, Any], open_ids: list[str], where: str
) -> Iterator[str]:
    answered = message.get("tool_call_id")
    if answered not in open_ids:
        yield f"{where}: answers {answered!r}, which is not open"
    else:
        open_ids.remove(answered)
    if not isinstance(message.get("content"), str):
        yield f"{where}: content is no text"


def _about_content(message: Mapping[str, Any], where: str) -> Iterator[str]:
    content = message.get("content")
    if content is None and message.get("tool_calls"):
        return
    if not isinstance(content, str) or not content.strip():
        yield f"{where}: empty {message['role']} message"


def _about_calls(calls: Any, open_ids: list[str], where: str) -> Iterator[str]:
    if calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield f"{where}: tool_calls is no list or empty"
        return
    for call in calls:
        yield from _about_call(call, open_ids, where)


def _about_call(call: Any, open_ids: list[str], where: str) -> Iterator[str]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or call.get("type") != "function":
        yield f"{where}: a call that is no function call"
        return
    if set(call) - {"id", "type", "function"} or set(function) - {"name", "arguments"}:
        yield f"{where}: a call with unknown fields"
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id or len(call_id) > 64:
        yield f"{where}: call id {call_id!r}"
    elif call_id in open_ids:
        yield f"{where}: call id {call_id} twice"
    else:
        open_ids.append(call_id)
    if not NAME.match(str(function.get("name"))):
        yield f"{where}: tool name {function.get('name')!r}"
    if not _is_object_text(function.get("arguments")):
        yield f"{where}: arguments of {call_id} are no JSON object as text"


def _is_object_text(arguments: Any) -> bool:
    try:
        return isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _about_tools(tools: Any) -> Iterator[str]:
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        yield "tools is no list or empty"
        return
    names = [tool.get("function", {}).get("name") for tool in tools]
    for name in names:
        if not NAME.match(str(name)) or names.count(name) > 1:
            yield f"tools: name {name!r}"
    for tool in tools:
        if tool.get("function", {}).get("parameters", {}).get("type") != "object":
            yield f"tools: parameters of {tool['function'].get('name')} are no object"


def _about_format(response_format: Any) -> Iterator[str]:
    if response_format is None:
        return
    inner = response_format.get("json_schema", {})
    if response_format.get("type") != "json_schema" or not inner.get("name"):
        yield "response_format is no json_schema with a name"
    if inner.get("strict") is not True:
        yield "response_format is not strict"
    yield from _about_schema(inner.get("schema"), "response_format")


def _about_schema(schema: Any, where: str) -> Iterator[str]:
    """Strict mode wants every object closed and every property required."""
    if not isinstance(schema, Mapping):
        yield f"{where}: no schema"
        return
    properties = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{where}: an object that is not closed"
        if set(schema.get("required", ())) != set(properties):
            yield f"{where}: not every property is required"
    for name, inner in properties.items():
        yield from _about_schema(inner, f"{where}.{name}")
    if "items" in schema:
        yield from _about_schema(schema["items"], f"{where}[]")
