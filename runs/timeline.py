"""Steps as the timeline shows them: title, what came of it, figures, tone, icon.

Pure but for reading the rows it is given; the run page and the review page share
it. `entries` wants the steps in order, oldest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from agentops import clock
from runs import words
from runs.blocks import (
    Block,
    as_table,
    asked,
    blocks_of,
    in_short,
    plain,
    said,
)
from runs.canonical import Json, shorten
from runs.models import Attempt, Step
from runs.states import RunState, StepKind, StepStatus
from runs.tools.base import titled
from runs.undone import UNDO

SAID = 90
PROMPTED = frozenset({StepKind.PLAN, StepKind.MODEL, StepKind.CHECK})
TOOL_ICONS = {
    "query_database": "data",
    "calculate": "calc",
    "send_email": "mail",
    "http_request": "web",
    "ask_human": "question",
    "escalate": "over",
    "update_plan": "plan",
}
KIND_ICONS = {
    StepKind.PLAN: "plan",
    StepKind.MODEL: "model",
    StepKind.CHECK: "gauge",
    StepKind.DECISION: "person",
    StepKind.COMPACTION: "fold",
}
KIND_TITLES = {
    StepKind.PLAN: "Plan",
    StepKind.MODEL: "Model",
    StepKind.CHECK: "Confidence check",
    StepKind.DECISION: "Decision",
    StepKind.COMPACTION: "Compaction",
}
ERROR_WORDS = {
    "transient": "Failed for now",
    "invalid": "Invalid call",
    "timeout": "Timed out",
    "fatal": "Error",
    "refused": "Declined",
    "context": "Too long for the model",
    "outcome_unknown": "Outcome unknown",
    "budget": "Over budget",
}
ERROR_KINDS = {
    "transient": "of the kind that passes, so it is tried again",
    "invalid": "the model's own mistake, which it was told of and may put right",
    "timeout": "no answer within its time",
    "fatal": "of the kind that stays, so it is not tried again",
    "refused": "the model did not want to, and is not asked twice",
    "context": "too long for the model's window",
    "outcome_unknown": "it may have happened, so it is not repeated on a guess",
    "budget": "it did not fit what the run may use",
    "changed": "it was no longer as it had been approved",
}
DECIDED = {
    "approve": ("Approved", "good"),
    "reject": ("Rejected", "bad"),
    "guide": ("Guided", "good"),
    "answer": ("Answered", "good"),
    "retry": ("Retried", "good"),
    "outcome": ("Outcome recorded", "good"),
    "top_up": ("Budget raised", "good"),
    "supply": ("Result supplied", "good"),
    "plan": ("Plan changed", "good"),
    "fork": ("Forked", ""),
    "abort": ("Aborted", "bad"),
    "go_on": ("Went on without an answer", ""),
    UNDO: ("Taken back", ""),
}


@dataclass(frozen=True)
class Entry:
    """One line of the timeline and its fold.

    `lead` is the part of the outcome that is stressed, `said` the rest of it.
    `seconds` of a decision is how long the run had waited for it.
    """

    step: Step
    icon: str
    title: str
    lead: str
    said: str
    tone: str
    seconds: float | None
    attempts: Sequence[Attempt]

    @property
    def number(self) -> int:
        return self.step.number

    @property
    def blocks(self) -> tuple[Block, ...]:
        """For the fold; what is very long is cut there, and whole on its own page."""
        return tuple(in_short(blocks_of(self.step)))

    @property
    def whole_blocks(self) -> tuple[Block, ...]:
        return blocks_of(self.step)

    @property
    def tokens(self) -> int:
        return self.step.input_tokens + self.step.output_tokens

    @property
    def cost(self) -> Decimal | None:
        return self.step.cost or None

    @property
    def has_prompt(self) -> bool:
        return self.step.kind in PROMPTED

    @property
    def error_words(self) -> str:
        """The class of its error, and what that means; "" without an error."""
        name = self.step.error_class
        if not name:
            return ""
        lead = ERROR_WORDS.get(name, name)
        return f"{lead}: {ERROR_KINDS[name]}." if name in ERROR_KINDS else f"{lead}."

    @property
    def is_decision(self) -> bool:
        return self.step.kind == StepKind.DECISION

    @property
    def is_now(self) -> bool:
        return StepStatus(self.step.status).is_open

    @property
    def opens(self) -> bool:
        """Decisions that say something and what went wrong are open at first."""
        if self.is_decision:
            return bool(self.blocks)
        return self.step.status in {StepStatus.FAILED, StepStatus.OUTCOME_UNKNOWN}


def entries(
    steps: Iterable[Step],
    attempts: Iterable[Attempt] = (),
    *,
    state: RunState = RunState.EXECUTING,
    wake_at: datetime | None = None,
) -> list[Entry]:
    """`state` is the run's: an open step of a parked or ended one is not under way.

    Nor is that of a run which sleeps until `wake_at`, say while an approval can
    still be taken back.
    """
    tries: dict[int, list[Attempt]] = {}
    for attempt in attempts:
        tries.setdefault(attempt.step_number, []).append(attempt)
    shown: list[Entry] = []
    before: datetime | None = None
    for step in steps:
        entry = _entry(step, tries.get(step.number, []), before, state)
        shown.append(_under_way(entry, wake_at) if entry.tone == "run" else entry)
        before = step.finished_at or before
    return shown


def _entry(
    step: Step, tries: Sequence[Attempt], before: datetime | None, state: RunState
) -> Entry:
    lead, rest, tone = outcome(step, state)
    return Entry(
        step=step,
        icon=_icon(step, tone),
        title=title(step),
        lead=lead,
        said=rest,
        tone=tone,
        seconds=seconds_of(step, before, tries),
        attempts=tries,
    )


def _under_way(entry: Entry, wake_at: datetime | None) -> Entry:
    """The step that is at work, or waits while its run sleeps.

    Most steps are written when they are planned and when they have ended, not between.
    """
    now = clock.now()
    wait_s = (wake_at - now).total_seconds() if wake_at else 0
    if wait_s <= 0 and entry.seconds is None:
        return replace(entry, seconds=words.between(entry.step.planned_at, now))
    if wait_s <= 0:
        return entry
    said = f"goes on in {words.coarse(wait_s)}"
    return replace(entry, lead="Waits", said=said, tone="wait")


def title(step: Step) -> str:
    kind = StepKind(step.kind)
    return titled(step.name) if kind is StepKind.TOOL else KIND_TITLES[kind]


def seconds_of(
    step: Step, before: datetime | None = None, tries: Sequence[Attempt] = ()
) -> float | None:
    """How long it took, or has taken so far, failed tries and their waits included.

    For a decision it is the wait before it; what was not carried out took no time.
    """
    start = tries[0].started_at if tries else step.started_at
    if step.status == StepStatus.SKIPPED:
        return None
    if step.kind == StepKind.DECISION:
        return words.between(before or step.planned_at, step.finished_at)
    if step.finished_at is None and StepStatus(step.status).is_open:
        return words.between(start, clock.now())
    return words.between(start or step.planned_at, step.finished_at)


def _icon(step: Step, tone: str) -> str:
    if step.status == StepStatus.OUTCOME_UNKNOWN:
        return "unknown"
    if tone == "bad" and step.kind != StepKind.DECISION:
        return "error"
    if step.kind == StepKind.TOOL:
        return TOOL_ICONS.get(step.name, "tool")
    return KIND_ICONS[StepKind(step.kind)]


def outcome(step: Step, state: RunState = RunState.EXECUTING) -> tuple[str, str, str]:
    """(stressed, rest, tone): what came of a step, in words."""
    status = StepStatus(step.status)
    if status.is_open:
        return _still_open(state)
    if status is StepStatus.SKIPPED:
        return "", _skipped(step), ""
    if status is StepStatus.OUTCOME_UNKNOWN:
        return "Outcome unknown", _first_line(step.error_text), "bad"
    if status is StepStatus.FAILED:
        lead = ERROR_WORDS.get(step.error_class, "Failed")
        return lead, _first_line(step.error_text), "bad"
    return _OUTCOMES[StepKind(step.kind)](step)


def _skipped(step: Step) -> str:
    why = _first_line(step.error_text)
    return f"Skipped: {why[0].lower()}{why[1:]}" if why else "Skipped"


def _still_open(state: RunState) -> tuple[str, str, str]:
    if state is RunState.AWAITING_HUMAN:
        return "", "Held until a person decides", "wait"
    if state.is_final:
        return "", "Not carried out: the run had ended", ""
    return "Under way", "", "run"


def _of_plan(step: Step) -> tuple[str, str, str]:
    items = said(step).get("items") or []
    if not items:
        return "", _first_line(str(said(step).get("content", "")) or "No plan"), ""
    first = str(items[0].get("text", ""))
    return "", shorten(f"{words.plural(len(items), 'item')}: {first}", SAID), ""


def _of_model(step: Step) -> tuple[str, str, str]:
    response = said(step)
    calls = response.get("calls") or []
    if calls:
        names = ", ".join(titled(str(call.get("name", ""))) for call in calls)
        return "", shorten(f"Asks for {names}", SAID), ""
    if response.get("refusal"):
        return "Declined", _first_line(response["refusal"]), "bad"
    if response.get("content"):
        return "", _first_line(response["content"]), ""
    return "Empty reply", "", "wait"


def _of_tool(step: Step) -> tuple[str, str, str]:
    response = said(step)
    if response.get("is_error"):
        lead = ERROR_WORDS.get(step.error_class, "Invalid call")
        return lead, "told to the model", "bad"
    return (
        "",
        result_in_brief(response.get("result"), str(response.get("text", ""))),
        "",
    )


def result_in_brief(result: Json, text: str) -> str:
    """A tool's result in a few words."""
    table = as_table(result)
    if table is not None:
        rows = words.plural(len(table.rows), "row")
        return f"{rows}, {words.plural(len(table.columns), 'column')}"
    if isinstance(result, list):
        return words.plural(len(result), "item")
    if isinstance(result, dict):
        return _first_line(_pairs(result))
    return _first_line(plain(result) if result not in (None, "") else text)


def _pairs(result: dict[str, Json]) -> str:
    """What was computed or sent, before ids that only programs read."""
    if "value" in result:
        return f"{result.get('expression', '')} = {plain(result['value'])}".lstrip(" =")
    if result.get("to") and "sent" in result:
        to = result["to"]
        return "Sent to " + (", ".join(map(str, to)) if isinstance(to, list) else to)
    telling = {name: value for name, value in result.items() if "id" not in name}
    return ", ".join(f"{name} {plain(value)}" for name, value in telling.items())


def _of_check(step: Step) -> tuple[str, str, str]:
    response = said(step)
    if response.get("problem") or "confidence" not in response:
        return "Check failed", _first_line(str(response.get("problem", ""))), "wait"
    sure = words.percent(response["confidence"])
    rules = response.get("rules_that_apply") or []
    if rules:
        return (
            f"{sure} sure",
            f"{words.plural(len(rules), 'review rule')} applies",
            "wait",
        )
    needed = response.get("threshold")
    if needed is not None and Decimal(str(response["confidence"])) < Decimal(
        str(needed)
    ):
        return f"{sure} sure", f"{words.percent(needed)} needed", "wait"
    return f"{sure} sure", "let through", ""


def _of_decision(step: Step) -> tuple[str, str, str]:
    response = said(step)
    kind = str(response.get("kind", step.name))
    lead, tone = DECIDED.get(kind, (titled(kind), ""))
    actor = asked(step).get("actor", "")
    parts = [f"by {actor}" if actor else ""]
    if response.get("arguments"):
        parts.append("with changed arguments")
    if response.get("note"):
        parts.append("with a note")
    return lead, ", ".join(part for part in parts if part), tone


def _of_compaction(step: Step) -> tuple[str, str, str]:
    response = said(step)
    before = words.size(int(response.get("bytes_before", 0)))
    after = words.size(int(response.get("bytes_after", 0)))
    return "", f"Old results shortened, {before} to {after}", ""


def _first_line(text: str) -> str:
    plain_text = str(text).replace("**", "").replace("`", "")
    lines = [line.strip("#*> \t") for line in plain_text.splitlines()]
    return shorten(next((line for line in lines if line), ""), SAID)


_OUTCOMES = {
    StepKind.PLAN: _of_plan,
    StepKind.MODEL: _of_model,
    StepKind.TOOL: _of_tool,
    StepKind.CHECK: _of_check,
    StepKind.DECISION: _of_decision,
    StepKind.COMPACTION: _of_compaction,
}
