"""Plays the vendor question agent: asks a person which of two contracts is meant."""

from __future__ import annotations

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

READ, ASK, ANSWER = 1, 2, 3

_VENDOR = re.compile(r"(?i:vendor)[:\s]+[\"“']?([A-Z][\w&.-]*(?: [A-Z][\w&-]*)*)")

Row = Mapping[str, Json]


def vendor_of(task: str) -> str:
    found = _VENDOR.search(task)
    return found[1] if found else "Northwind Analytics"


def plan(task: str) -> Sequence[str]:
    return (
        f"Find the contracts with {vendor_of(task)}",
        "Ask which one is meant if there are several",
        "Answer from that contract",
    )


def turn(talk: Talk) -> Turn:
    vendor = vendor_of(talk.task)
    query = talk.last("query_database")
    if query is None:
        columns = "id, title, signed, ends, notice_days, yearly_value"
        sql = select(columns, "contracts", f"vendor = {sql_text(vendor)}", "id")
        text = f"I will look for the contracts with {vendor}."
        return Turn(text, [("query_database", {"sql": sql}, READ)])
    if query.outcome is not Outcome.DONE:
        return Turn(f"The contracts could not be read: {one_line(query.result)}")
    rows = [row for row in rows_in(query.result) if "title" in row]
    if not rows:
        return Turn(f"There is no contract with {vendor}." + quoted_notes(talk))
    if len(rows) > 1 and talk.has("ask_human"):
        return _after_asking(talk, vendor, rows)
    return Turn(_answer(rows[0]) + quoted_notes(talk))


def _after_asking(talk: Talk, vendor: str, rows: Sequence[Row]) -> Turn:
    asked = talk.last("ask_human")
    if asked is None:
        return _ask(f"Which contract with {vendor} do you mean?", rows)
    meant = _meant(asked.said, rows)
    if meant is not None:
        return Turn(_answer(meant, asked.said) + quoted_notes(talk))
    if len(talk.of("ask_human")) < 2:
        answer = asked.said
        return _ask(f"“{answer}” fits no contract or several. Which one is it?", rows)
    titles = ", ".join(str(row["title"]) for row in rows)
    return Turn(f"It stayed open which contract is meant; there are: {titles}.")


def _ask(question: str, rows: Sequence[Row]) -> Turn:
    options = [f"{row['title']} (signed {row.get('signed')})" for row in rows]
    arguments = {"question": question, "options": options}
    return Turn("There are several contracts.", [("ask_human", arguments, ASK)])


def _meant(answer: str, rows: Sequence[Row]) -> Row | None:
    """The one row whose title or number the answer names."""
    words = set(re.findall(r"\w+", answer.lower()))
    named = [row for row in rows if str(row["title"]).lower() in answer.lower()]
    if not named:
        named = [row for row in rows if _own_words(row, rows) & words]
    return named[0] if len(named) == 1 else None


def _own_words(row: Row, rows: Sequence[Row]) -> set[str]:
    """Words that only this contract has: of its title, its number, its year."""

    def words(of: Row) -> set[str]:
        text = f"{of['title']} {of.get('id')} {of.get('signed')}"
        return set(re.findall(r"\w+", text.lower()))

    others = [words(other) for other in rows if other is not row]
    return words(row).difference(*others)


def _answer(row: Row, said: str = "") -> str:
    asked = f"\n\nYou answered: “{one_line(said)}”." if said else ""
    return (
        f"## {row['title']}\n\n"
        f"It was signed on {row.get('signed')} and runs until {row.get('ends')}. It can"
        f" be ended with **{row.get('notice_days')} days'** notice; it costs"
        f" {row.get('yearly_value')} a year." + asked
    )


PLAYER = Player("vendor question agent", plan, turn)
