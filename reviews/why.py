"""Why a run is parked, as the review page shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from agentops.conf import product
from reviews import charts, doubt
from reviews.act import spec_of
from reviews.charts import Burn, Chart
from reviews.models import Review
from reviews.models.review import ReviewKind
from reviews.passing import Case, did_pass, would_have_passed
from runs import words
from runs.blocks import said
from runs.models import Step
from runs.states import ParkReason, StepKind
from runs.timeline import ERROR_WORDS
from runs.tools.base import titled

CHANGES = {
    "arguments": "the arguments",
    "schema": "the tool's own form",
    "effect": "whether what the tool does can be undone",
    "policy": "the policy of the tool",
    "settings": "the settings of the tool",
    "permission": "the permission to use the tool",
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
class Span:
    """A part of the rule's sentence; `weight` is "tone", "strong" or ""."""

    text: str
    weight: str = ""


@dataclass(frozen=True)
class Point:
    """A line under the rule: words, a moment, or the step they come from."""

    name: str
    text: str
    at: datetime | None = None
    step: int = 0


@dataclass(frozen=True)
class Why:
    """The rule, threshold or budget that asked, with its actual values.

    `passed` is what would have let it go by itself, or let it where it `did_pass`; it
    is never empty.
    """

    sentence: Sequence[Span]
    gauge: Gauge | None
    points: Sequence[Point]
    passed: str
    did_pass: bool = False
    burn: Burn | None = None
    chart: Chart | None = None

    @property
    def in_words(self) -> str:
        return "".join(span.text for span in self.sentence)


def why(review: Review, steps: Sequence[Step] = ()) -> Why:
    """`steps` are those the page shows: evidence is pointed at where it is there.

    No query but two for an act whose outcome is unknown. Needs run and version.
    """
    case = Case.of(review)
    before = [step for step in steps if step.number <= review.step_number]
    return Why(
        sentence=_sentence(review, case),
        gauge=_gauge(case),
        points=[*_points(review, case, before)],
        passed=_passed(review, case),
        did_pass=review.kind == ReviewKind.AFTERWARDS,
        burn=charts.burn(case.figures),
        chart=charts.growth(case.rules, before),
    )


def _passed(review: Review, case: Case) -> str:
    if review.kind != ReviewKind.AFTERWARDS:
        return would_have_passed(case)
    own = review.run.agent.afterwards_below
    below = Decimal(str(product().afterwards_below)) if own is None else own
    return did_pass(case, below)


def _gauge(case: Case) -> Gauge | None:
    if case.stated is None or case.figures.get("threshold") is None:
        return None
    return Gauge(float(case.stated * 100), float(case.needed * 100))


def _sentence(review: Review, case: Case) -> list[Span]:
    """The check's figures, stressed; else the question as it is."""
    if _gauge(case) is None or case.stated is None:
        return [Span(review.question)]
    return [
        Span("The check is "),
        Span(f"{words.percent(case.stated)} sure", "tone" if case.is_low else "strong"),
        Span(f", {case.needed_by} needs "),
        Span(words.percent(case.needed), "strong"),
        Span("."),
    ]


def _points(review: Review, case: Case, steps: Sequence[Step]) -> Iterator[Point]:
    figures = case.figures
    if case.rules:
        named = " · ".join(f"“{rule}”" for rule in case.rules)
        yield Point("Rule" if len(case.rules) == 1 else "Rules", f"{named}: applies")
    if figures.get("rationale"):
        yield Point("It says", f"“{figures['rationale']}”", step=_check(review, steps))
    if figures.get("side_effects"):
        yield Point("Side effects", "; ".join(map(str, figures["side_effects"])))
    yield from _counts(review, case)
    yield from _evidence(review, case, steps)
    if case.error:
        text = f"{case.error.get('text')} ({_class_words(case.error.get('class'))})"
        yield Point("Last error", text)


def _counts(review: Review, case: Case) -> Iterator[Point]:
    """How much there was of what is allowed."""
    figures, reason = case.figures, case.reason
    if figures.get("budget") and not figures.get("model"):
        yield Point("Used", f"{figures.get('used')} of {figures.get('limit')}")
        yield Point("Reserved", f"at most {figures.get('needed')} for the next call")
        yield Point("To the end", f"about {figures.get('forecast')} more")
    if figures.get("attempts"):
        tries = words.count(int(figures["attempts"]))
        is_spent = reason is ParkReason.RETRIES
        yield Point("Tries", f"{tries} of {tries}" if is_spent else tries)
    if figures.get("invalid_turns"):
        allowed = figures.get("allowed", figures["invalid_turns"])
        yield Point("In a row", f"{figures['invalid_turns']} of {allowed} allowed")
    if figures.get("repeats"):
        allowed = figures.get("allowed")
        yield Point("Equal results", f"{figures['repeats']}, {allowed} are let through")
    if figures.get("claims"):
        yield Point("Ended its worker", f"{figures['claims']} times while alone")
    if reason is ParkReason.REPEATED_CALL:
        number = int((review.proposal or {}).get("occurrence") or 2)
        yield Point("This call", f"number {number} with these arguments")


def _evidence(review: Review, case: Case, steps: Sequence[Step]) -> Iterator[Point]:
    if case.figures.get("changed"):
        changed = [CHANGES.get(str(c), str(c)) for c in case.figures["changed"]]
        yield Point("Changed", ", ".join(changed))
    if case.reason is ParkReason.UNTRUSTED_CONTENT:
        read = next((s for s in steps if said(s).get("untrusted")), None)
        if read is not None:
            yield Point("Read by", titled(read.name), step=read.number)
    if case.reason is ParkReason.OUTCOME_UNKNOWN:
        for name, text, at in doubt.known(review):
            yield Point(name, text, at=at)


def _check(review: Review, steps: Sequence[Step]) -> int:
    """The number of the check that said so, 0 if it is not among the steps."""
    checks = [step.number for step in steps if step.kind == StepKind.CHECK]
    return checks[-1] if checks and checks[-1] == review.step_number else 0


def _class_words(name: Any) -> str:
    return ERROR_WORDS.get(str(name), str(name)).lower()


def question_of(review: Review) -> tuple[str, list[str]]:
    """What the agent asks a person, and the answers it offers; ("", []) if nothing."""
    proposal: dict[str, Any] = review.proposal or {}
    spec = spec_of(str(proposal.get("tool", "")))
    if spec is None or spec.asks is None:
        return "", []
    arguments = proposal.get("arguments") or {}
    text = arguments.get("question") or arguments.get("reason") or ""
    options = arguments.get("options") or []
    return str(text), [str(option) for option in options]
