"""Plays the quarterly metrics agent: read, compute, flag, write, send.

Its first query names a column that does not exist, and it corrects itself from the
error it gets. All figures come from the rows that the query returned.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from runs.canonical import Json
from runs.llm.demo.figures import Month, above, amount, months_in, table
from runs.llm.demo.player import (
    Check,
    Player,
    failures,
    one_line,
    quoted_notes,
    says_stop,
    select,
    sql_text,
    unsure,
)
from runs.llm.demo.talk import Call, Outcome, Talk, Turn

READ, COMPUTE, FLAG, WRITE, SEND = 1, 2, 3, 4, 5

_QUARTER = re.compile(r"\bQ([1-4])[ ,/-]*(20\d\d)\b|\b(20\d\d)[ -]?Q([1-4])\b")
_LIMIT = re.compile(r"(\d+(?:\.\d+)?)\s*(?:%|per ?cent)")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SUBJECT = re.compile(r"subject[:\s]+[\"“']([^\"”']+)[\"”']", re.IGNORECASE)
_REGION = re.compile(
    r"(?i:region)[:\s]+[\"“']?([A-Z][\w-]*(?: [A-Z][\w-]*)*)|\b(North America|Europe|"
    r"Asia Pacific|Latin America)\b"
)


@dataclass(frozen=True)
class Wanted:
    """What the form, or a task in plain words, asks for."""

    quarter: str
    months: Sequence[str]
    region: str
    limit: Decimal
    recipient: str
    subject: str

    @classmethod
    def of(cls, task: str) -> Wanted:
        number, year = _quarter(task)
        quarter = f"Q{number} {year}"
        region, subject = _REGION.search(task), _SUBJECT.search(task)
        address, limit = _ADDRESS.search(task), _LIMIT.search(task)
        first = 3 * number - 2
        return cls(
            quarter=quarter,
            months=[f"{year}-{month:02}" for month in range(first, first + 3)],
            region=(region[1] or region[2]) if region else "North America",
            limit=Decimal(limit[1]) if limit else Decimal(30),
            recipient=address[0].rstrip(".") if address else "analytics@company.com",
            subject=subject[1] if subject else f"{quarter} Revenue Summary",
        )

    @property
    def limit_text(self) -> str:
        return f"{self.limit.normalize():f} %"


def _quarter(task: str) -> tuple[int, str]:
    found = _QUARTER.search(task)
    if found is None:
        return 3, "2024"
    return int(found[1] or found[4]), found[2] or found[3]


def plan(task: str) -> Sequence[str]:
    wanted = Wanted.of(task)
    first, last = wanted.months[0], wanted.months[-1]
    return (
        f"Read {first} to {last} from monthly_revenue",
        "Compute month-over-month growth",
        f"Flag any month above {wanted.limit_text}",
        "Write a summary in markdown",
        f"Send it to {wanted.recipient}",
    )


def turn(talk: Talk) -> Turn:
    wanted = Wanted.of(talk.task)
    query = talk.last("query_database")
    if query is None:
        return _query(wanted, "month_name", "I will read the three months first.")
    if query.outcome is Outcome.REJECTED:
        return Turn(f"The figures could not be read: {query.said} Nothing was sent.")
    if query.outcome is not Outcome.DONE:
        return _correct(talk, wanted, query)
    months = [m for m in months_in(query.result) if m.month in wanted.months]
    if not months:
        return Turn(
            f"monthly_revenue has no rows for {wanted.quarter}, {wanted.region}."
            " Nothing was sent." + quoted_notes(talk)
        )
    sums = {_sum(before, now): now for before, now in _pairs(months)}
    if sums and talk.has("calculate") and not talk.of("calculate"):
        calls = [("calculate", {"expression": text}, COMPUTE) for text in sums]
        return Turn("I will work out the growth of each month.", calls)
    return _send(talk, wanted, months)


def _query(wanted: Wanted, column: str, text: str) -> Turn:
    first, last = wanted.months[0], wanted.months[-1]
    region = f"region = {sql_text(wanted.region)}"
    time = f"{column} BETWEEN {sql_text(first)} AND {sql_text(last)}"
    sql = select(
        f"{column}, revenue", "monthly_revenue", f"{region} AND {time}", column
    )
    return Turn(text, [("query_database", {"sql": sql}, READ)])


def _correct(talk: Talk, wanted: Wanted, query: Call) -> Turn:
    if failures(talk, "query_database") < 3:
        named = "month_name" in query.result
        text = "The column is called month." if named else "I will ask once more."
        return _query(wanted, "month", text)
    return Turn(
        f"The database could not be read: {one_line(query.result)}"
        " Nothing was computed and nothing was sent."
    )


def _pairs(months: Sequence[Month]) -> list[tuple[Month, Month]]:
    return [(a, b) for a, b in itertools.pairwise(months) if a.revenue]


def _sum(before: Month, now: Month) -> str:
    return f"round(({now.revenue} / {before.revenue} - 1) * 100, 1)"


def _send(talk: Talk, wanted: Wanted, months: Sequence[Month]) -> Turn:
    sent = talk.last("send_email")
    if not talk.has("send_email"):
        return Turn(_summary(wanted, months) + quoted_notes(talk))
    if sent is None:
        return _mail(talk, wanted, _summary(wanted, months), "")
    if sent.outcome is Outcome.DONE:
        return _sent(talk, wanted, months, sent)
    reason = sent.said
    if sent.outcome is Outcome.LEFT and talk.notes:
        reason = talk.notes[-1]
    again = sent.outcome is not Outcome.FAILED and len(talk.of("send_email")) < 3
    if again and not says_stop(reason):
        extra = f"\n\n> Taken into account: {reason}"
        return _mail(talk, wanted, _summary(wanted, months) + extra, reason)
    words = f"\n\nThe summary was **not sent**: {reason}"
    return Turn(_summary(wanted, months) + words + quoted_notes(talk))


def _mail(talk: Talk, wanted: Wanted, body: str, reason: str) -> Turn:
    kept = [f"\n\n> Taken into account: {text}" for text in talk.guidance]
    arguments = mail_arguments(
        talk, wanted.recipient, wanted.subject, "".join([body, *kept])
    )
    text = "The summary is written; I ask to send it."
    if reason:
        text = f"I have taken this in: {reason} I ask to send the new text."
    return Turn(text, [("send_email", arguments, SEND)])


def mail_arguments(talk: Talk, to: str, subject: str, body: str) -> dict[str, Json]:
    """Under the names that the tool's schema gives them."""
    properties = talk.tools["send_email"].get("properties", {})
    takes_list = properties.get("to", {}).get("type") == "array"
    text_names = [name for name in properties if "body" in name or "text" in name]
    text_name = text_names[0] if text_names else "body"
    return {"to": [to] if takes_list else to, "subject": subject, text_name: body}


def _people(to: Json) -> str:
    return ", ".join(map(str, to)) if isinstance(to, list) else str(to)


def _summary(wanted: Wanted, months: Sequence[Month], flag: str = "anomalous") -> str:
    flagged = above(months, wanted.limit)
    lines = [
        f"## {wanted.quarter} revenue, {wanted.region}",
        table(months, wanted.limit, flag),
        _about(flagged, wanted),
        f"Quarter total: {amount(sum((m.revenue for m in months), Decimal(0)))}.",
    ]
    return "\n\n".join(lines)


def _about(flagged: Sequence[Month], wanted: Wanted) -> str:
    if not flagged:
        return f"No month grew more than {wanted.limit_text}."
    words = " ".join(f"{m.name} grew **{m.growth} %**." for m in flagged)
    return f"{words} That is above the {wanted.limit_text} limit: flagged as anomalous."


def _sent(talk: Talk, wanted: Wanted, months: Sequence[Month], sent: Call) -> Turn:
    confirmed = any("confirm" in note.lower() for note in talk.notes)
    flag = "anomalous, confirmed" if confirmed else "anomalous"
    names = _people(sent.ran_with.get("to", wanted.recipient))
    edited = " A reviewer had changed it before." if sent.was_edited else ""
    words = f"\n\nThe summary was sent to {names}.{edited}"
    return Turn(_summary(wanted, months, flag) + words + quoted_notes(talk))


def check(proposal: Mapping[str, Json]) -> Check:
    """0.62 and the rule when a month grew more than it allows, else 0.93.

    A check is asked without the agent's prompt, so it is known by tool and task.
    """
    about_revenue = "revenue" in str(proposal.get("task")).lower()
    if proposal.get("tool") != "send_email" or not about_revenue:
        return unsure(proposal)
    arguments = proposal.get("arguments") or {}
    names = _people(arguments.get("to", ""))
    will_do = f"Send one e-mail, “{arguments.get('subject')}”, to {names}."
    effects = ["Everybody behind the address gets the figures"]
    months = months_in(proposal.get("recent"))
    if not months:
        words = "No figures of the database were seen, so the mail cannot be checked."
        return Check(0.55, will_do, words, False, effects)
    rules = _rules(proposal.get("review_when") or (), months)
    if not rules:
        words = "The figures are those of the database, and no rule applies."
        return Check(0.93, will_do, words, False, effects)
    limit = rules[0][1]
    top = max(above(months, limit), key=lambda m: m.growth or 0)
    words = (
        f"{top.name} grew {top.growth} %, above the {limit.normalize():f} % limit."
        " The figure may be right, but nothing in the data explains it."
    )
    return Check(0.62, will_do, words, False, effects, [n for n, _ in rules])


def _rules(rules: Sequence[Json], months: Sequence[Month]) -> list[tuple[int, Decimal]]:
    """Number and limit of each rule on growth that a month breaks."""
    found = []
    for number, rule in enumerate(rules, 1):
        limit = _LIMIT.search(str(rule))
        if limit and "grow" in str(rule).lower() and above(months, Decimal(limit[1])):
            found.append((number, Decimal(limit[1])))
    return found


PLAYER = Player("quarterly metrics agent", plan, turn)
