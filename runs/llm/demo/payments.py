"""Plays the payment audit agent, which hands over to a person what looks wrong."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from runs.canonical import Json
from runs.llm.demo.figures import rows_in
from runs.llm.demo.player import (
    Player,
    one_line,
    quoted_notes,
    select,
    sql_text,
)
from runs.llm.demo.talk import Outcome, Talk, Turn

READ, COMPARE, REPORT = 1, 2, 3

_MONTH = re.compile(r"\b(20\d\d-(?:0[1-9]|1[0-2]))\b")

Row = Mapping[str, Json]


def month_of(task: str) -> str:
    found = _MONTH.search(task)
    return found[1] if found else "2024-09"


def plan(task: str) -> Sequence[str]:
    return (
        f"Read the payments of {month_of(task)}",
        "Look for payments made twice",
        "Report, or hand over what looks wrong",
    )


def turn(talk: Talk) -> Turn:
    month = month_of(talk.task)
    query = talk.last("query_database")
    if query is None:
        columns = "id, paid_on, payee, invoice, amount"
        condition = f"paid_on LIKE {sql_text(month + '%')}"
        sql = select(columns, "payments", condition, "id")
        text = f"I will read the payments of {month}."
        return Turn(text, [("query_database", {"sql": sql}, READ)])
    if query.outcome is not Outcome.DONE:
        return Turn(f"The payments could not be read: {one_line(query.result)}")
    rows = [row for row in rows_in(query.result) if "invoice" in row]
    doubles = _doubles(rows)
    handed = talk.last("escalate")
    if doubles and handed is None and talk.has("escalate"):
        arguments = {"reason": _reason(doubles)}
        text = "Something looks wrong here; a person should see it."
        return Turn(text, [("escalate", arguments, REPORT)])
    return Turn(_report(month, rows, doubles, _decided(talk)) + quoted_notes(talk))


def _decided(talk: Talk) -> str:
    """What a person said to the case that was handed over."""
    handed = talk.last("escalate")
    is_said = handed is not None and handed.outcome is not Outcome.LEFT
    return handed.said if handed and is_said else ""


def _doubles(rows: Sequence[Row]) -> list[list[Row]]:
    same: dict[tuple[Json, Json], list[Row]] = defaultdict(list)
    for row in rows:
        same[row.get("payee"), row.get("invoice")].append(row)
    return [group for group in same.values() if len(group) > 1]


def _reason(doubles: Sequence[Sequence[Row]]) -> str:
    return (
        f"{'; '.join(map(_words, doubles))}. I would ask for the money back, but I do"
        " not know whether the second payment was meant, and I cannot undo a claim."
    )


def _words(group: Sequence[Row]) -> str:
    first = group[0]
    days = " and ".join(str(row.get("paid_on")) for row in group)
    return (
        f"Invoice {first.get('invoice')} of {first.get('payee')} over"
        f" {first.get('amount')} was paid {len(group)} times, on {days}"
    )


def _report(
    month: str, rows: Sequence[Row], doubles: Sequence[Sequence[Row]], said: str
) -> str:
    lines = [f"## Payments of {month}", "", f"{len(rows)} payments were looked at."]
    lines += [f"- {_words(group)}." for group in doubles]
    if not doubles:
        lines.append("No invoice was paid twice.")
    if said:
        lines += ["", f"> A person decided: {said}"]
    return "\n".join(lines)


PLAYER = Player("payment audit agent", plan, turn)
