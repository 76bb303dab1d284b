"""What comes into a run, without the secrets in it.

What an act brings back passes `Work.perform`, what a person decides `deciding.resume`,
and what a run begins with `services.start`; nothing goes to the database, to the model
or to a page without having passed one of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from agentops import redaction
from runs import canonical
from runs.canonical import Json
from runs.errors import StepError
from runs.llm.base import RawCall, Reply
from runs.tools.base import Reconciliation
from runs.values import Verdict

REFUSAL = (
    "What is hidden ([hidden: …]) is gone and cannot be passed on. Leave it out, or say"
    " it in words of your own."
)


def value(found: Any) -> Any:
    """Of any act: a model's reply, a tool's result, what a reconciliation found."""
    if isinstance(found, Reply):
        return _reply(found)
    if isinstance(found, Reconciliation):
        evidence = redaction.hide(found.evidence)
        return replace(found, result=redaction.hide_in(found.result), evidence=evidence)
    return redaction.hide_in(found)


def verdict(said: Verdict) -> Verdict:
    """What a person decides, wherever it was entered."""
    return replace(
        said,
        text=redaction.hide(said.text),
        note=redaction.hide(said.note),
        arguments=redaction.hide_in(said.arguments),
        result=redaction.hide_in(said.result),
        plan=redaction.hide_in(said.plan),
    )


def error(raised: StepError) -> StepError:
    """The same error, its words without secrets."""
    words = redaction.hide(raised.message)
    if words != raised.message:
        raised.args = (words, *raised.args[1:])
    return raised


def with_placeholders(arguments: Mapping[str, Json]) -> list[str]:
    """The arguments that hold one. What is approved is what runs, so nothing in
    a call may stand for something else."""
    return [
        name for name, given in arguments.items() if redaction.has_placeholder(given)
    ]


def _reply(reply: Reply) -> Reply:
    return replace(reply, calls=tuple(map(_call, reply.calls)), **_texts(reply))


def _call(call: RawCall) -> RawCall:
    return replace(call, **_texts(call) | {"arguments": _arguments(call.arguments)})


def _texts(found: Reply | RawCall) -> dict[str, Json]:
    """Every field that holds text, whatever it is called, in one pass."""
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    texts = {n: v for n, v in values.items() if isinstance(v, str | Mapping)}
    kept: dict[str, Json] = redaction.hide_in(texts)
    return kept


def _arguments(given: Json) -> Json:
    """Text is looked at as what it says: JSON can write a letter in several ways."""
    if not isinstance(given, str):
        return redaction.hide_in(given)
    try:
        read = canonical.loads(given)
    except ValueError:
        return redaction.hide(given)
    kept = redaction.hide_in(read)
    return given if kept == read else json.dumps(kept, ensure_ascii=False)
