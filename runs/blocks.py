"""What is inside a step's fold: its request and response as typed blocks. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from runs import words
from runs.canonical import Json, parse_arguments
from runs.errors import InvalidCall
from runs.models import Step
from runs.plans import as_lines
from runs.states import StepKind
from runs.tools.base import titled

INLINE_ROWS = 50
INLINE_CHARACTERS = 20_000
LONG = 80
CODE_ARGUMENTS = frozenset({"sql", "query", "expression", "code"})
SHOWN_AS_MARKDOWN = frozenset({"body", "body_markdown", "markdown", "summary"})


@dataclass(frozen=True)
class Block:
    """One part of a fold.

    `kind` names the part of the template that shows it: text, code, markdown,
    quote, list, facts (pairs), table (`Table`), note. `left_out` counts characters.
    """

    kind: str
    value: Any
    heading: str = ""
    left_out: int = 0


@dataclass(frozen=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[Json]]
    left_out: int = 0

    def first(self, number: int) -> Table:
        left_out = max(len(self.rows) - number, 0)
        return replace(self, rows=self.rows[:number], left_out=left_out)


def blocks_of(step: Step) -> tuple[Block, ...]:
    """Everything recorded about a step but its exact prompt, nothing left out."""
    return (*_BODIES[StepKind(step.kind)](step), *_error(step))


def in_short(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks as a page holds a hundred of them: the long ones cut, and said so."""
    for block in blocks:
        if isinstance(block.value, Table):
            yield replace(block, value=block.value.first(INLINE_ROWS))
        elif isinstance(block.value, str) and len(block.value) > INLINE_CHARACTERS:
            shown = block.value[:INLINE_CHARACTERS]
            yield replace(block, value=shown, left_out=len(block.value) - len(shown))
        else:
            yield block


def _plan(step: Step) -> Iterator[Block]:
    items = said(step).get("items") or []
    if items:
        yield Block("list", [item.get("text", "") for item in items])
    else:
        yield from _spoken(said(step))


def _model(step: Step) -> Iterator[Block]:
    response = said(step)
    yield from _spoken(response)
    for call in response.get("calls") or []:
        yield from call_blocks(call)


def _spoken(response: Mapping[str, Json]) -> Iterator[Block]:
    if response.get("reasoning"):
        yield Block("text", response["reasoning"], "Reasoning the endpoint gave")
    if response.get("content"):
        yield Block("markdown", response["content"], "Said")
    if response.get("refusal"):
        yield Block("quote", response["refusal"], "Declined")
    if response.get("finish_reason") == "length":
        yield Block("note", "Cut off at the output limit.")


def call_blocks(call: Mapping[str, Json]) -> Iterator[Block]:
    """A call as the model made it."""
    heading = f"Asks for {titled(str(call.get('name', '')))}"
    try:
        arguments = parse_arguments(str(call.get("name")), call.get("arguments"))
    except InvalidCall as problem:
        yield Block("code", str(call.get("arguments")), heading)
        yield Block("note", problem.message)
        return
    yield from argument_blocks(arguments, heading)


def argument_blocks(arguments: Mapping[str, Json], heading: str) -> Iterator[Block]:
    """Short values as facts, long ones each on their own; nothing cut."""
    short = [
        (label(name), plain(value))
        for name, value in arguments.items()
        if not is_long(name, value)
    ]
    if short or not arguments:
        yield Block("facts", short or [("Arguments", "none")], heading)
        heading = ""
    for name, value in arguments.items():
        if is_long(name, value):
            yield Block(_kind_of(name, value), plain(value), heading or label(name))
            heading = ""


def is_long(name: str, value: Json) -> bool:
    if isinstance(value, dict | list):
        return bool(value)
    text = plain(value)
    return name in CODE_ARGUMENTS or len(text) > LONG or "\n" in text


def _kind_of(name: str, value: Json) -> str:
    is_markdown = name in SHOWN_AS_MARKDOWN and isinstance(value, str)
    return "markdown" if is_markdown else "code"


def label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def plain(value: Json) -> str:
    """A value as text: words for booleans and nothing, JSON for structures."""
    if isinstance(value, str):
        return value
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return json.dumps(value, indent=2, ensure_ascii=False)


def _tool(step: Step) -> Iterator[Block]:
    request, response = asked(step), said(step)
    yield from _asked(request.get("arguments") or {})
    if request.get("edited"):
        yield Block("note", "A person changed these arguments before it ran.")
    if response:
        yield from result_blocks(response.get("result"), str(response.get("text", "")))
    if response.get("untrusted"):
        yield Block("note", "Untrusted content: irreversible tools ask after this.")


def _asked(arguments: Json) -> Iterator[Block]:
    """An object; but as the model gave them where they could not be understood."""
    if isinstance(arguments, Mapping):
        yield from argument_blocks(arguments, "Asked")
    else:
        yield Block("code", plain(arguments), "Asked")


def result_blocks(result: Json, text: str) -> Iterator[Block]:
    table = as_table(result)
    if table is not None:
        yield Block("table", table, "Answered")
    elif result is None or result == "":
        yield Block("code", text or "nothing", "Answered")
    elif isinstance(result, dict) and _is_flat(result):
        pairs = [(label(name), plain(value)) for name, value in result.items()]
        yield Block("facts", pairs, "Answered")
    else:
        yield Block("code", plain(result), "Answered")


def _is_flat(result: Mapping[str, Json]) -> bool:
    return all(not is_long("", value) for value in result.values())


def as_table(result: Json) -> Table | None:
    """Rows with named columns, in either of the two shapes tools give; else None."""
    if isinstance(result, dict) and isinstance(result.get("rows"), list):
        return _table_of(result.get("columns"), result["rows"])
    if isinstance(result, list) and result and isinstance(result[0], dict):
        return _table_of(list(result[0]), result)
    return None


def _table_of(columns: Json, rows: list[Json]) -> Table | None:
    if not rows and not columns:
        return None
    names = columns or (list(rows[0]) if isinstance(rows[0], dict) else [])
    names = [n.get("name", "") if isinstance(n, dict) else str(n) for n in names]
    return Table(names, [_cells(row, names) for row in rows])


def _cells(row: Json, names: Sequence[str]) -> list[Json]:
    if isinstance(row, dict):
        return [row.get(name) for name in names]
    return list(row) if isinstance(row, list) else [row]


def _check(step: Step) -> Iterator[Block]:
    response = said(step)
    if response.get("problem"):
        yield Block("note", str(response["problem"]))
    if response.get("rationale"):
        yield Block("quote", response["rationale"], "Its reason")
    facts = list(_check_facts(response))
    if facts:
        yield Block("facts", facts)


def _check_facts(response: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    if response.get("will_do"):
        yield "Will be done", str(response["will_do"])
    if "confidence" in response:
        yield "Stated confidence", words.percent(response["confidence"])
    if response.get("threshold") is not None:
        yield "Needed", words.percent(response["threshold"])
    if "reversible" in response:
        yield "Can be undone", plain(bool(response["reversible"]))
    if response.get("side_effects"):
        yield "Side effects", "; ".join(map(str, response["side_effects"]))


def _decision(step: Step) -> Iterator[Block]:
    response = said(step)
    for name, heading in (("text", ""), ("note", "Note to the agent")):
        if response.get(name):
            yield Block("quote", response[name], heading)
    if response.get("arguments"):
        yield from argument_blocks(response["arguments"], "Approved with")
    if response.get("result") not in (None, ""):
        yield Block("code", plain(response["result"]), "Result that was recorded")
    if response.get("plan"):
        yield Block("code", as_lines(response["plan"]), "The plan from then on")
    if response.get("limits"):
        pairs = [(label(name), plain(v)) for name, v in response["limits"].items()]
        yield Block("facts", pairs, "New limits")


def _compaction(step: Step) -> Iterator[Block]:
    response = said(step)
    if response:
        before = words.size(int(response.get("bytes_before", 0)))
        after = words.size(int(response.get("bytes_after", 0)))
        yield Block("facts", [("Before", before), ("After", after)])
    yield Block("note", "The full record stays readable here.")


def _error(step: Step) -> Iterator[Block]:
    told = str(said(step).get("text") or "")
    if step.error_text and step.error_text not in told:
        yield Block("code", step.error_text, "What went wrong")


def said(step: Step) -> dict[str, Any]:
    return step.response if isinstance(step.response, dict) else {}


def asked(step: Step) -> dict[str, Any]:
    return step.request if isinstance(step.request, dict) else {}


_BODIES = {
    StepKind.PLAN: _plan,
    StepKind.MODEL: _model,
    StepKind.TOOL: _tool,
    StepKind.CHECK: _check,
    StepKind.DECISION: _decision,
    StepKind.COMPACTION: _compaction,
}
