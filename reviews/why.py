"""Why a run is parked and what would happen next, as the review page shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from reviews.models import Review
from runs import words
from runs.blocks import SHOWN_AS_MARKDOWN, label, plain
from runs.canonical import Json
from runs.models import Tool
from runs.states import ParkReason
from runs.tools import registry
from runs.tools.base import Context, Deadline, Preview, ToolSpec
from runs.tools.perform import preview

PREVIEW_S = 5.0
TYPES = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "structure",
}
REVERSIBILITY = {
    "irreversible": ("bad", "oneway", "Cannot be undone"),
    "idempotent": ("", "again", "Safe to repeat"),
    "read": ("good", "search", "Only reads"),
}


@dataclass(frozen=True)
class Gauge:
    """What was stated against what was needed, in percent of the width."""

    stated: float
    needed: float

    @property
    def stated_words(self) -> str:
        return words.percent(self.stated / 100)

    @property
    def needed_words(self) -> str:
        return words.percent(self.needed / 100)

    @property
    def anchor(self) -> str:
        return "end" if self.stated > 30 else "start"

    @property
    def is_crowded(self) -> bool:
        """Would the two labels run into each other?"""
        return abs(self.stated - self.needed) < 16


@dataclass(frozen=True)
class Why:
    """The rule, threshold or budget that asked, with its actual values."""

    sentence: str
    gauge: Gauge | None
    points: list[tuple[str, str]] = field(default_factory=list)


def why(review: Review) -> Why:
    figures: dict[str, Any] = (review.detail or {}).get("figures") or {}
    return Why(review.question, _gauge(figures), list(_points(review, figures)))


def _gauge(figures: Mapping[str, Json]) -> Gauge | None:
    stated, needed = _share(figures.get("confidence")), _share(figures.get("threshold"))
    if stated is None or needed is None:
        return None
    return Gauge(float(stated * 100), float(needed * 100))


def _share(value: Json) -> Decimal | None:
    try:
        return Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None


def _points(review: Review, figures: Mapping[str, Json]) -> list[tuple[str, str]]:
    points: list[tuple[str, str]] = []
    if figures.get("rationale"):
        points.append(("The check says", f"“{figures['rationale']}”"))
    if figures.get("will_do"):
        points.append(("It expects", str(figures["will_do"])))
    if figures.get("side_effects"):
        points.append(("Side effects", "; ".join(map(str, figures["side_effects"]))))
    if figures.get("budget"):
        points += _budget(figures)
    error = (review.detail or {}).get("error")
    if error:
        points.append(("Last error", f"{error.get('text')} ({error.get('class')})"))
    if figures.get("attempts"):
        points.append(("Tries", words.count(int(figures["attempts"]))))
    if figures.get("changed"):
        points.append(("Changed", ", ".join(map(str, figures["changed"]))))
    passed = _would_have_passed(review, figures)
    return points + ([("Would have passed", passed)] if passed else [])


def _budget(figures: Mapping[str, Json]) -> list[tuple[str, str]]:
    return [
        ("Used", f"{figures.get('used')} of {figures.get('limit')}"),
        ("Next call", f"at most {figures.get('needed')}"),
        ("To the end", f"about {figures.get('forecast')} more"),
    ]


def _would_have_passed(review: Review, figures: Mapping[str, Json]) -> str:
    parts = []
    threshold, confidence = figures.get("threshold"), figures.get("confidence")
    if threshold is not None and confidence is not None:
        low = Decimal(str(confidence)) < Decimal(str(threshold))
        parts += [f"{words.percent(Decimal(str(threshold)))} or more"] if low else []
    rules = figures.get("rules") or []
    if rules:
        parts.append("no case of: " + "; ".join(map(str, rules)))
    if not parts and review.reason == ParkReason.ALWAYS_ASK:
        return "nothing: this tool always asks"
    return ", and ".join(parts)


# What will happen


@dataclass(frozen=True)
class Field:
    """One argument, or one line of a tool's own preview; `kind` picks the display."""

    label: str
    kind: str
    value: str

    @property
    def is_block(self) -> bool:
        is_long = "\n" in self.value and self.kind != "list"
        return self.kind in {"json", "code"} or is_long


@dataclass(frozen=True)
class Act:
    """The proposed call: what people see is what will run, nothing cut."""

    headline: str
    warning: str
    tone: str
    icon: str
    reversibility: str
    fields: list[Field]
    arguments: list[Field]
    is_previewed: bool
    is_irreversible: bool
    is_known: bool
    key: str


def act(review: Review) -> Act | None:
    """None where no call is proposed, or a person is its answer."""
    proposal: dict[str, Any] = review.proposal or {}
    if not proposal.get("tool"):
        return None
    spec = _spec(str(proposal["tool"]))
    if spec is not None and spec.asks is not None:
        return None
    arguments = proposal.get("arguments") or {}
    told = _preview(spec, review, arguments) if spec else None
    effect = str(proposal.get("effect", ""))
    tone, icon, reversible = REVERSIBILITY.get(effect, ("", "tool", ""))
    typed = [_typed(name, value, spec) for name, value in arguments.items()]
    lines = [Field(title, kind, str(v)) for title, kind, v in _lines(told)]
    return Act(
        headline=told.headline if told else str(proposal.get("title", "")),
        warning=told.warning if told else "",
        tone=tone,
        icon=icon,
        reversibility=reversible,
        fields=lines or typed,
        arguments=typed,
        is_previewed=told is not None,
        is_irreversible=effect == "irreversible",
        is_known=spec is not None,
        key=str(proposal.get("key", "")),
    )


def _spec(name: str) -> ToolSpec | None:
    try:
        return registry.get(name)
    except KeyError:
        return None


def _preview(
    spec: ToolSpec, review: Review, arguments: dict[str, Json]
) -> Preview | None:
    """The tool's own words; a preview that fails leaves the arguments to speak."""
    if spec.preview is None:
        return None
    row = Tool.objects.filter(name=spec.name).only("settings").first()
    context = Context(
        run_id=str(review.run_id),
        step=review.step_number,
        key=str(review.proposal.get("key", "")),
        deadline=Deadline.after(PREVIEW_S),
        settings=row.settings if row else {},
    )
    return preview(spec, arguments, context)


def _typed(name: str, value: Json, spec: ToolSpec | None) -> Field:
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return Field(label(name), "list", "\n".join(value))
    if isinstance(value, str) and name in SHOWN_AS_MARKDOWN:
        return Field(label(name), "markdown", value)
    return Field(label(name), _kind(name, value, spec), plain(value))


def _kind(name: str, value: Json, spec: ToolSpec | None) -> str:
    if isinstance(value, dict | list):
        return "json"
    properties = spec.parameters.get("properties", {}) if spec else {}
    declared = properties.get(name, {}).get("type", "")
    return TYPES.get(str(declared), "text")


def _lines(told: Preview | None) -> list[tuple[str, str, object]]:
    return [(row[0], row[2], row[1]) for row in told.fields] if told else []


def question_of(review: Review) -> tuple[str, list[str]]:
    """What the agent asks a person, and the answers it offers; ("", []) if nothing."""
    proposal: dict[str, Any] = review.proposal or {}
    spec = _spec(str(proposal.get("tool", "")))
    if spec is None or spec.asks is None:
        return "", []
    arguments = proposal.get("arguments") or {}
    text = arguments.get("question") or arguments.get("reason") or ""
    options = arguments.get("options") or []
    return str(text), [str(option) for option in options]
