"""What a part of the demo model is, and what the parts share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runs.canonical import Json
from runs.llm.demo.talk import Call, Outcome, Talk, Turn

_OPEN_ITEMS = re.compile(r"Items ([\d, ]+) of your plan were not worked on")
_STOPS = re.compile(
    r"\b(?:do not|don't|never|no need to|not) (?:send|mail)|\bstop\b|\bcancel"
    r"|\bno longer\b|\bnot needed\b|\bno (?:e-?)?mail\b"
    r"|\b(?:not|nothing)(?: is| must| should| may)?(?: to)? be sent\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Check:
    """A confidence check's answer."""

    confidence: float
    will_do: str
    rationale: str
    reversible: bool = False
    side_effects: Sequence[str] = ()
    rules: Sequence[int] = ()

    def as_json(self) -> dict[str, Json]:
        return {
            "will_do": self.will_do,
            "confidence": self.confidence,
            "rationale": self.rationale,
            "reversible": self.reversible,
            "side_effects": list(self.side_effects),
            "rules_that_apply": list(self.rules),
        }


@dataclass(frozen=True)
class Player:
    """Plays the agent whose prompt has `phrase` in it ("" plays any).

    `meets_outage` says whether the endpoint is down for this turn at first.
    """

    phrase: str
    plan: Callable[[str], Sequence[str]]
    turn: Callable[[Talk], Turn]
    meets_outage: Callable[[Talk], bool] = lambda talk: False


def says_stop(reason: str) -> bool:
    """Whether a person's reason asks to leave it at that."""
    return _STOPS.search(reason) is not None


def quoted_notes(talk: Talk) -> str:
    """What people said on the way, as the end of an answer; "" if nothing."""
    said = [*talk.guidance, *talk.notes]
    return "".join(f"\n\n> Taken into account: {note}" for note in said)


def one_line(text: str) -> str:
    return " ".join(text.split())


def failures(talk: Talk, tool: str) -> int:
    return sum(call.outcome is Outcome.FAILED for call in talk.of(tool))


def select(columns: str, table: str, conditions: str, order: str) -> str:
    return " ".join(
        ["SELECT", columns, "FROM", table, "WHERE", conditions, "ORDER BY", order]
    )


def sql_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def settle_plan(talk: Talk, last: Turn) -> Turn | None:
    """The answer to a reminder that items of the plan are open; None without one.

    Marks the items named: done where a call came after them, else dropped, with
    the answer's first sentence as the reason.
    """
    reminded = _OPEN_ITEMS.match(talk.nudge)
    if reminded is None or not talk.plan or not talk.has("update_plan"):
        return None
    open_items = {int(number) for number in re.findall(r"\d+", reminded[1])}
    worked = max((_item(call) for call in talk.calls), default=0)
    why = one_line(last.text).partition(". ")[0][:300] + "."
    items = []
    for number, text in enumerate(talk.plan, 1):
        status = "open" if number == len(talk.plan) else "done"
        if number in open_items and number > worked:
            status = "dropped"
        reason = why if status == "dropped" else ""
        items.append({"text": text, "status": status, "reason": reason})
    arguments = {"items": items, "reason": why}
    return Turn("I settle what is left of the plan.", [("update_plan", arguments, 0)])


def _item(call: Call) -> int:
    number = call.arguments.get("plan_item")
    return number if isinstance(number, int) else 0


def unsure(proposal: Mapping[str, Json]) -> Check:
    """What a model says that cannot judge: a person looks."""
    tool = str(proposal.get("tool", ""))
    return Check(
        confidence=0.7,
        will_do=f"Call {tool} with the arguments shown.",
        rationale="The demo model cannot judge this call; a person should look.",
        side_effects=["Not known to the demo model"],
    )
