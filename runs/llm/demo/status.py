"""Plays the service status agent, whose endpoint is down for a while on the way."""

from __future__ import annotations

import itertools
import re
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

READ, TELL = 1, 2

_SERVICE = re.compile(r"(?i:service)[:\s]+[\"“']?([a-z][\w-]*)")


def service_of(task: str) -> str:
    found = _SERVICE.search(task)
    return found[1] if found else "billing"


def plan(task: str) -> Sequence[str]:
    return (
        f"Read the last checks of {service_of(task)}",
        "Say how it is, and since when",
    )


def turn(talk: Talk) -> Turn:
    service = service_of(talk.task)
    query = talk.last("query_database")
    if query is None:
        columns = "checked_at, status, latency_ms"
        condition = f"service = {sql_text(service)}"
        sql = select(columns, "service_checks", condition, "checked_at")
        text = f"I will read the checks of {service}."
        return Turn(text, [("query_database", {"sql": sql}, READ)])
    if query.outcome is not Outcome.DONE:
        return Turn(f"The checks could not be read: {one_line(query.result)}")
    rows = [row for row in rows_in(query.result) if "status" in row]
    if not rows:
        return Turn(f"There are no checks of {service}." + quoted_notes(talk))
    lines = ["| Checked | Status | Latency |", "|---|---|--:|"]
    lines += [
        f"| {row.get('checked_at')} | {row['status']} | {row.get('latency_ms')} ms |"
        for row in rows
    ]
    now = rows[-1]["status"]
    words = (
        f"{service} is **{now}** since {_since(rows)}, by the last of {len(rows)}"
        " checks."
    )
    return Turn("\n".join([words, "", *lines]) + quoted_notes(talk))


def _since(rows: Sequence[Mapping[str, Json]]) -> Json:
    """When the first of the newest checks was made that all say the same."""
    same = itertools.takewhile(
        lambda row: row["status"] == rows[-1]["status"], reversed(rows)
    )
    return list(same)[-1].get("checked_at")


def meets_outage(talk: Talk) -> bool:
    return talk.last("query_database") is not None


PLAYER = Player("service status agent", plan, turn, meets_outage)
