"""What would happen: the proposed call, whole, with where each value comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentops.conf import product
from reviews.models import Review
from reviews.provenance import marks, sources
from reviews.provenance.marks import Index, Kind, Mark, Marked
from reviews.provenance.notes import Note, notes
from runs.blocks import SHOWN_AS_MARKDOWN, label, plain
from runs.canonical import Json
from runs.models import Step, Tool
from runs.tools import registry
from runs.tools.base import IRREVERSIBLE, Context, Deadline, Preview, ToolSpec
from runs.tools.perform import preview

PREVIEW_S = 5.0
MOST_CHARACTERS = 1500
MOST_LINES = 40
"""Of all arguments together: what has more is not decided on beside the list."""
MOST_ITEMS = 200
CUT = 160
TYPES = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "structure",
}
KINDS = {"email": "e-mail", "url": "URL", "json": "structure"}
REVERSIBILITY = {
    IRREVERSIBLE: ("bad", "oneway", "Cannot be undone"),
    "idempotent": ("", "again", "Safe to repeat"),
    "read": ("good", "search", "Only reads"),
}


@dataclass(frozen=True)
class Item:
    """One element of a list, or one value inside a structure."""

    label: str
    text: str
    mark: Mark


@dataclass(frozen=True)
class Field:
    """One argument, or one line of a tool's own preview; `kind` picks the display.

    `items` are the values inside, `left_out` counts those that are not listed there.
    """

    label: str
    kind: str
    value: str
    index: Index = field(repr=False)
    mark: Mark | None = None
    figures: tuple[Marked, ...] = ()
    items: tuple[Item, ...] = ()
    left_out: int = 0
    is_list: bool = False

    @property
    def kind_words(self) -> str:
        return KINDS.get(self.kind, self.kind)

    @property
    def is_block(self) -> bool:
        return self.kind in {"json", "code"} or "\n" in self.value

    @property
    def is_short(self) -> bool:
        """Does its mark stand beside it, rather than below?"""
        return not (self.is_block or self.items or self.is_rendered or self.figures)

    @property
    def is_rendered(self) -> bool:
        """Markdown is shown as its reader gets it, unless it is a book."""
        return self.kind == "markdown" and len(self.value) <= marks.MOST_MARKED

    @property
    def notes(self) -> list[Note]:
        return notes([one.mark for one in self.figures], len(self.value))

    @property
    def start(self) -> str:
        """For where there is no room: enough to know it by."""
        return self.value if len(self.value) <= CUT else self.value[:CUT] + "…"


@dataclass(frozen=True)
class Act:
    """The proposed call: what people see is what will run, nothing cut.

    `undo_s`: how long an approval may be taken back, 0 for not at all.
    """

    headline: str
    warning: str
    effect: str
    fields: list[Field]
    arguments: list[Field]
    is_previewed: bool
    is_known: bool
    is_cut: bool
    key: str
    undo_s: float = 0.0
    unsaid: int = 0

    @property
    def is_irreversible(self) -> bool:
        return self.effect == IRREVERSIBLE

    @property
    def tone(self) -> str:
        return REVERSIBILITY.get(self.effect, ("", "tool", ""))[0]

    @property
    def icon(self) -> str:
        return REVERSIBILITY.get(self.effect, ("", "tool", ""))[1]

    @property
    def reversibility(self) -> str:
        return REVERSIBILITY.get(self.effect, ("", "tool", ""))[2]

    @property
    def characters(self) -> int:
        return sum(len(one.value) for one in self.arguments)

    @property
    def is_long(self) -> bool:
        """Is it too much to be shown whole beside the list?"""
        return any(map(_is_much, (self.arguments, self.fields)))

    @property
    def has_marks(self) -> bool:
        return any(one.mark or one.figures or one.items for one in self.fields)


def _is_much(fields: list[Field]) -> bool:
    lines = sum(one.value.count("\n") + 1 for one in fields)
    return lines > MOST_LINES or sum(len(one.value) for one in fields) > MOST_CHARACTERS


def act(review: Review, steps: Sequence[Step] = ()) -> Act | None:
    """None where no call is proposed, or a person is its answer.

    At most three queries; none for a review as `access.review_for` finds it, with all
    `steps` of its run at hand, and one where these are only the newest.
    """
    proposal: dict[str, Any] = review.proposal or {}
    if not proposal.get("tool"):
        return None
    spec = spec_of(str(proposal["tool"]))
    if spec is not None and spec.asks is not None:
        return None
    arguments = _in_order(proposal.get("arguments") or {}, spec)
    chosen, undo_s = _set_by_admins(review, str(proposal["tool"]))
    gathered = sources.gather(review, chosen, steps)
    index = Index.of(gathered.sources, is_cut=gathered.is_cut)
    typed = {
        name: _typed(name, value, spec, index, gathered.entered)
        for name, value in arguments.items()
    }
    told = _preview(spec, review, arguments, chosen) if spec else None
    fields, unsaid = _lines(told, arguments, typed, index)
    effect = str(proposal.get("effect", ""))
    return Act(
        headline=told.headline if told else str(proposal.get("title", "")),
        warning=told.warning if told else "",
        effect=effect,
        fields=fields or list(typed.values()),
        arguments=list(typed.values()),
        is_previewed=bool(fields),
        is_known=spec is not None,
        is_cut=gathered.is_cut,
        key=str(proposal.get("key", "")),
        undo_s=_undo_s(undo_s, effect),
        unsaid=len(unsaid) if fields else 0,
    )


def _in_order(arguments: dict[str, Json], spec: ToolSpec | None) -> dict[str, Json]:
    """As the tool names them: a database may give them back in another order."""
    named = spec.parameters.get("properties", {}) if spec else {}
    return {name: arguments[name] for name in [*named, *arguments] if name in arguments}


def spec_of(name: str) -> ToolSpec | None:
    try:
        return registry.get(name)
    except KeyError:
        return None


def _set_by_admins(review: Review, tool: str) -> tuple[dict[str, Json], float | None]:
    """The tool's settings as a call of this run meets them, and its undo window."""
    if hasattr(review, "tool_settings"):  # found along with the review
        found = (review.tool_settings, review.tool_undo_s)  # type: ignore[attr-defined]
    else:
        rows = Tool.objects.filter(name=tool).values_list("settings", "undo_s")
        found = rows.first() or (None, None)
    grant = (review.run.version.config.get("grants") or {}).get(tool) or {}
    return {**(found[0] or {}), **(grant.get("settings") or {})}, found[1]


def _undo_s(own: float | None, effect: str) -> float:
    if own is not None:
        return own
    numbers = product()
    is_final = effect == IRREVERSIBLE
    return numbers.undo_irreversible_s if is_final else numbers.undo_s


def _preview(
    spec: ToolSpec,
    review: Review,
    arguments: dict[str, Json],
    chosen: Mapping[str, Json],
) -> Preview | None:
    """The tool's own words; a preview that fails leaves the arguments to speak."""
    if spec.preview is None:
        return None
    context = Context(
        run_id=str(review.run_id),
        step=review.step_number,
        key=str(review.proposal.get("key", "")),
        deadline=Deadline.after(PREVIEW_S),
        settings=chosen,
    )
    return preview(spec, arguments, context)


# The arguments, typed


def _typed(
    name: str,
    value: Json,
    spec: ToolSpec | None,
    index: Index,
    entered: Mapping[str, tuple[str, Json]],
) -> Field:
    shown = plain(value)
    if isinstance(value, dict | list) and value:
        return _many(name, value, index, entered)
    kind = _kind(name, value, spec)
    mark = None if value in ("", [], {}) else index.value(value, name)
    figures: tuple[Marked, ...] = ()
    if name in entered and entered[name][1] == value:
        mark = Mark(Kind.ENTERED, who=entered[name][0])
    elif isinstance(value, str) and mark and mark.kind is Kind.WRITTEN:
        figures = tuple(marks.marked(value, index))
    return Field(label(name), kind, shown, index, mark, figures)


def _many(
    name: str, value: Json, index: Index, entered: Mapping[str, tuple[str, Json]]
) -> Field:
    """A list of short texts as its elements, all else as JSON; and what is inside."""
    items = list(_items(name, value, index, entered))
    kept = tuple(items[:MOST_ITEMS])
    is_list = len(items) == len(kept) and _are_short_texts(value)
    return Field(
        label(name),
        "list" if is_list else "json",
        "\n".join(value) if is_list else plain(value),
        index,
        items=kept,
        left_out=len(items) - len(kept),
        is_list=is_list,
    )


def _are_short_texts(value: Json) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, str) and len(one) <= CUT and "\n" not in one for one in value
    )


def _items(
    name: str, value: Json, index: Index, entered: Mapping[str, tuple[str, Json]]
) -> Iterator[Item]:
    for place, (path, key, inside) in enumerate(marks.leaves(value, name, name)):
        if place >= MOST_ITEMS:
            yield Item(path, "", Mark(Kind.UNSEARCHED))
            continue
        mark = index.value(inside, key)
        if path in entered and entered[path][1] == inside:
            mark = Mark(Kind.ENTERED, who=entered[path][0])
        yield Item(path, plain(inside), mark)


def _kind(name: str, value: Json, spec: ToolSpec | None) -> str:
    if isinstance(value, str) and name in SHOWN_AS_MARKDOWN:
        return "markdown"
    properties = spec.parameters.get("properties", {}) if spec else {}
    declared = properties.get(name, {}).get("type", "")
    return TYPES.get(str(declared), "text")


# The tool's own preview


def _lines(
    told: Preview | None,
    arguments: Mapping[str, Json],
    typed: Mapping[str, Field],
    index: Index,
) -> tuple[list[Field], set[str]]:
    """The lines of the preview, and the arguments that none of them shows whole."""
    left = dict(arguments)
    fields = []
    for title, value, kind in told.fields if told else ():
        name = next((n for n, v in left.items() if value in _spellings(v)), None)
        if name is None:
            fields.append(_told(title, value, kind, index))
            continue
        del left[name]
        fields.append(_as_told(typed[name], title, kind))
    return fields, {name for name, value in left.items() if value not in ("", [], {})}


def _as_told(known: Field, title: str, kind: str) -> Field:
    return replace(known, label=title, kind=kind)


def _spellings(value: Json) -> set[str]:
    """How a preview writes an argument that it shows whole."""
    found = {plain(value)}
    if isinstance(value, dict | list):
        found |= {
            json.dumps(value, ensure_ascii=False, sort_keys=True, separators=pair)
            for pair in ((",", ":"), (", ", ": "))
        }
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        found |= {", ".join(value), "\n".join(value)}
    return found


def _told(title: str, value: str, kind: str, index: Index) -> Field:
    """A line that the tool made itself, out of its settings or of several values."""
    mark = index.value(value) if value else None
    if mark is not None and mark.kind is not Kind.SOURCED:
        mark = Mark(Kind.TOLD)
        return Field(title, kind, value, index, mark, tuple(marks.marked(value, index)))
    return Field(title, kind, value, index, mark)
