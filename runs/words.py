"""Figures as people read them: money, time spent, time ago, counts.

Pure functions; the templates reach them through the tag library `words`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.utils import timezone

from agentops import unseen

HIDDEN = re.compile(
    f"[{unseen.CONTROL}{unseen.LINE_ENDS}{unseen.UNSEEN}{unseen.BLANK}]"
)
"""Control characters but tab and newline, and what changes a text unseen."""

MINUTE, HOUR, DAY = 60, 3600, 86_400
JUST_NOW_S = 10
A_MONTH_S = 30 * DAY


def plainly(text: object) -> str:
    """The text with what is not to be seen in it as [U+202E]: for the title of a page,
    an attribute, a choice, where no element can stand."""
    return HIDDEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", str(text))


def money(amount: Decimal | float | str | None) -> str:
    """US dollars with enough digits: $2.00, $0.0042, $0.000012; "" for None."""
    if amount is None or amount == "":
        return ""
    value = Decimal(str(amount))
    if value == 0:
        return "$0"
    if abs(value) >= 1:
        return f"${value:,.2f}"
    places = 4 if abs(value) >= Decimal("0.0001") else 1 - value.adjusted()
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    whole, _, decimals = f"{rounded:f}".partition(".")
    return f"${whole}.{decimals.rstrip('0').ljust(2, '0')}"


def duration(seconds: float | None) -> str:
    """How long: 3 ms, 0.04 s, 18.9 s, 1 m 12 s, 5 min, 2 h 14 m, 3 d 4 h."""
    if seconds is None:
        return ""
    if round(seconds, 1) < MINUTE:
        return _short(max(seconds, 0.0))
    whole = round(seconds)
    if whole < HOUR:
        return _pair(whole, MINUTE, ("min", "m"), "s")
    if whole < DAY:
        return _pair(whole // MINUTE, HOUR // MINUTE, ("h", "h"), "m")
    return _pair(whole // HOUR, DAY // HOUR, ("d", "d"), "h")


def _short(seconds: float) -> str:
    if seconds < 0.01:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 0.1:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"


def _pair(whole: int, unit: int, names: tuple[str, str], rest: str) -> str:
    major, minor = divmod(whole, unit)
    alone, beside = names
    return f"{major} {beside} {minor} {rest}" if minor else f"{major} {alone}"


def coarse(seconds: float) -> str:
    """The same with one or two large units, for ages and deadlines."""
    whole = int(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    if whole < DAY:
        return duration(whole - whole % MINUTE)
    return f"{whole // DAY} d"


def ago(moment: datetime | None, now: datetime) -> str:
    """Just now, 45 s ago, 18 min ago, 2 h ago, 3 d ago, then the date."""
    if moment is None:
        return ""
    seconds = (now - moment).total_seconds()
    if seconds < JUST_NOW_S:
        return "just now"
    if seconds >= A_MONTH_S:
        return f"{moment.day} {moment:%b %Y}"
    if HOUR <= seconds < DAY:
        return f"{int(seconds // HOUR)} h ago"
    return f"{coarse(seconds)} ago"


def at(moment: datetime, now: datetime) -> str:
    """14:32 CET on the reader's clock; 29 Nov, 14:32 CET if that is another day."""
    here = timezone.localtime(moment)
    time = f"{here:%H:%M} {here.tzname()}"
    is_today = here.date() == timezone.localtime(now).date()
    return time if is_today else f"{here.day} {here:%b}, {time}"


def left(deadline: datetime, now: datetime) -> str:
    """14 min left, 2 h 14 m left, overdue by 3 min."""
    seconds = (deadline - now).total_seconds()
    if seconds < 0:
        return f"overdue by {coarse(-seconds)}"
    return f"{coarse(seconds)} left"


def urgency(deadline: datetime, now: datetime) -> str:
    """The tone of a deadline: bad when overdue, wait in the last hour, else nothing."""
    seconds = (deadline - now).total_seconds()
    if seconds < 0:
        return "bad"
    return "wait" if seconds < HOUR else ""


def count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def percent(share: float | Decimal | None) -> str:
    """0.62 as 62 %; more digits only where they matter (99.5 %)."""
    if share is None:
        return ""
    value = Decimal(str(share)) * 100
    text = f"{value.quantize(Decimal('0.1'), ROUND_HALF_UP):f}"
    return f"{text.removesuffix('.0')} %"


def size(number: int) -> str:
    """Bytes: 812 B, 41 kB, 1.2 MB."""
    if number < 1000:
        return f"{number} B"
    if number < 1_000_000:
        return f"{number / 1000:.0f} kB"
    return f"{number / 1_000_000:.1f} MB"


def plural(number: int, one: str, many: str = "") -> str:
    """1 step, 3 steps, 1,200 rows."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def person(user: Any) -> str:
    """A person's full name, or the name they sign in with."""
    return str(user.get_full_name() or user.get_username())


def between(start: datetime | None, end: datetime | None) -> float | None:
    """Seconds from one to the other, None while either is missing."""
    if start is None or end is None:
        return None
    return max((end - start) / timedelta(seconds=1), 0.0)
