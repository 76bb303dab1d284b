"""How steps become the messages a model is sent. Pure.

A turn is an assistant message, one tool message per call in the order of the
calls, then user messages (notes, guidance, nudges). Nothing here looks at rows:
the same steps always give the same messages, which a chained digest proves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from runs.canonical import Json, clean_text, dumps, parse_arguments, shorten
from runs.errors import InvalidCall
from runs.plans import as_lines

Message = dict[str, Json]

PLAN_SCHEMA: dict[str, Json] = {
    "name": "plan",
    "schema": {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}},
                    "required": ["text"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["items"],
        "additionalProperties": False,
    },
}
PLAN_INSTRUCTION = (
    "Before you act, write down your plan: the items you will work through, in"
    ' order. Answer with JSON only: {"items": [{"text": "…"}]}'
)
CARRY_OUT = (
    "Carry the plan out. With every tool call give plan_item, the number of the item"
    " it is for, counted from 1. If the plan has to change, call update_plan. When"
    " everything is done, give the final answer without a tool call."
)
EMPTY_REPLY = (
    "Your last reply was empty. Call a tool, or give the final answer as text."
)
NO_CALL = (
    "Your last reply announced a tool call and made none. Make it, or give the final"
    " answer as text."
)
CUT_REPLY = (
    "Your last reply was cut off at the output limit. Answer again, and shorter."
)
SAME_AGAIN = (
    "You have made this call several times and got the same result each time. Do"
    " something else, or give the final answer."
)
IGNORED_ENTRY = "An entry among your tool calls was no function call and was ignored."
SURPLUS_CALLS = "Your last reply had too many tool calls; the last {} were ignored."
KEPT_WHEN_SHORTENED = 200
MAX_SAID = 100_000
"""Characters of a model's text that go back to it: an endpoint may know no limit."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def left_out(ignored: int, surplus: int) -> str:
    """What a model is told of entries among its calls that get no answer."""
    notes = [IGNORED_ENTRY] if ignored else []
    return " ".join(notes + ([SURPLUS_CALLS.format(surplus)] if surplus else []))


def open_items(numbers: Iterable[int]) -> str:
    """What a model is told that stops with items of its plan not worked on."""
    named = ", ".join(map(str, numbers))
    return (
        f"Items {named} of your plan were not worked on. Do them, or call update_plan"
        " to mark each as done or dropped and say why, then answer."
    )


def opening(system: str, task: str, guidance: Sequence[str] = ()) -> list[Message]:
    """The messages every prompt of a run begins with."""
    kept = "".join(f"\n- {text}" for text in guidance)
    whole = f"{system}\n\nGuidance from the people you work for:{kept}"
    return [
        {"role": "system", "content": whole if kept else system},
        {"role": "user", "content": task},
    ]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def from_person(text: str) -> Message:
    """Guidance and notes: what a person says, as the user they are."""
    return user(f"A person reviewing this run says: {text}")


def changed_plan(plan: Sequence[dict[str, Json]], why: str) -> Message:
    """The plan as a person wants it, for the model to go on with."""
    said = f" They say: {why}" if why else ""
    return user(
        f"A person changed the plan.{said} The plan now:\n{as_lines(plan)}\nGo on"
        " with what is open; plan_item counts from this list."
    )


def assistant(response: dict[str, Json]) -> Message | None:
    """The model's own message as history; None if it said nothing at all."""
    calls = [_call(call) for call in response.get("calls") or []]
    content = response.get("content") or ""
    content = shorten(content, MAX_SAID) if content.strip() else ""
    if not calls and not content:
        return None
    echo = response.get("echo") or {}
    message: Message = {**echo, "role": "assistant", "content": content or None}
    if calls:
        message["tool_calls"] = calls
    return message


def _call(call: dict[str, Json]) -> Json:
    name = call["name"]
    return {
        "id": call["id"],
        "type": "function",
        "function": {
            "name": name if _NAME.fullmatch(name) else "unknown",
            "arguments": _arguments_text(name, call["arguments"]),
        },
    }


def _arguments_text(name: str, raw: Json) -> str:
    """Text that parses to an object, as strict endpoints ask; `{}` for rubbish."""
    try:
        return dumps(parse_arguments(name, raw))
    except InvalidCall:
        return "{}"


def tool(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def plan_messages(response: dict[str, Json]) -> list[Message]:
    """What a plan step leaves behind; its `problem` is why it was no plan, if any."""
    said = assistant(response)
    told = user(response.get("problem") or CARRY_OUT)
    return [user(PLAN_INSTRUCTION), *([said] if said else []), told]


def shortened(message: Message, limit: int = KEPT_WHEN_SHORTENED) -> Message:
    """A tool message with most of its result taken out; others as they are."""
    text = message.get("content") or ""
    if message["role"] != "tool" or len(text) <= 2 * limit:
        return message
    note = f"\n[shortened: {len(text) - limit} characters left out]"
    return {**message, "content": shorten(text, limit) + note}


def call_ids(
    raw: Iterable[tuple[str, bool]], taken: frozenset[str] | set[str], step: int
) -> list[str]:
    """An id for each call: its own where that is usable and not taken, else ours.

    `raw` is (id, is it usable at all) in order; ours depend on step and place only,
    so that they are the same in every try.
    """
    ids: list[str] = []
    known = set(taken)
    for place, (given, usable) in enumerate(raw, start=1):
        good = usable and _NAME.fullmatch(given) and given not in known
        ids.append(given if good else _own_id(f"call_{step}_{place}", known))
        known.add(ids[-1])
    return ids


def _own_id(wanted: str, known: set[str]) -> str:
    """A model may have used ours already."""
    while wanted in known:
        wanted += "_"
    return wanted


def edited_notice(arguments: dict[str, Json]) -> str:
    """Tells the model that a person changed its call, so it does not call again."""
    return clean_text(
        "[A person changed the arguments of this call before it ran. It ran once,"
        f" with {shorten(dumps(arguments), 2000)}]\n"
    )
