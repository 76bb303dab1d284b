"""Readers of the environment that fail loudly.

Each reader takes the variable's name and a default, and raises
`ImproperlyConfigured` naming the variable, what was expected and what was
found; `database` and `zone` do not tell that, as a password may have got there. A
variable that is set to nothing counts as not set. `unknown()` tells of names that
nobody has asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import TypeVar
from zoneinfo import ZoneInfo

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")

MOST = 1e9
"""Thirty years of seconds: a moment so far ahead is still one that can be written."""
_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_DATABASES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
_DATABASE = (
    "postgresql://user:password@host/name or sqlite:////path/file.sqlite3; in a password"
    " everything but letters and digits is written as % and its code, / as %2F"
)

_asked: set[str] = set()


def unknown(prefix: str) -> list[str]:
    """The variables that begin with `prefix` and that no reader has asked for."""
    return sorted(n for n in os.environ if n.startswith(prefix) and n not in _asked)


def text(name: str, default: str = "") -> str:
    _asked.add(name)
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool = False) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in _TRUE:
        return True
    if raw in _FALSE:
        return False
    raise _wrong(name, "one of 1, 0, true, false, yes, no, on, off", raw)


def integer(name: str, default: int, *, minimum: int = 0) -> int:
    raw = text(name)
    value = _parse(name, raw, int, "a whole number") if raw else default
    if value < minimum:
        raise _wrong(name, f"a whole number of at least {minimum}", raw)
    return value


def number(name: str, default: float, *, above_zero: bool = False) -> float:
    """At most `MOST`, since nearly all of them are seconds."""
    raw = text(name)
    value = _parse(name, raw, float, "a number") if raw else default
    if not isfinite(value) or value < 0 or (above_zero and value == 0):
        bound = "a number above 0" if above_zero else "a number of at least 0"
        raise _wrong(name, bound, raw)
    if value > MOST:
        raise _wrong(name, f"a number of at most {MOST:,.0f}", raw)
    return value


def share(name: str, default: float) -> float:
    """A number from 0 to 1."""
    value = number(name, default)
    if value > 1:
        raise _wrong(name, "a number from 0 to 1", text(name))
    return value


def money(name: str, default: Decimal) -> Decimal:
    """An amount in US dollars, never negative."""
    raw = text(name)
    expected = "an amount such as 0.50"
    value = _parse(name, raw, Decimal, expected) if raw else default
    if not value.is_finite() or value < 0:
        raise _wrong(name, expected, raw)
    return value


def words(
    name: str, default: Sequence[str] = (), *, among: Sequence[str] = ()
) -> list[str]:
    """A list divided by commas; spaces around the parts are dropped.

    Each part has to be one of `among`, if there are any.
    """
    raw = text(name)
    if not raw:
        return list(default)
    parts = [part.strip() for part in raw.split(",") if part.strip()]
    if among and not set(parts) <= set(among):
        raise _wrong(name, "some of " + ", ".join(among), raw)
    return parts


def choice(name: str, default: str, *, among: Sequence[str]) -> str:
    value = text(name, default)
    if value not in among:
        raise _wrong(name, "one of " + ", ".join(among), value)
    return value


def database(name: str, default: str) -> str:
    """The address of a database of a kind that this product runs on."""
    value = text(name, default)
    try:
        engine = dj_database_url.parse(value)["ENGINE"]
    except ValueError:
        raise _unlike(name, _DATABASE) from None
    if engine not in _DATABASES:
        raise _unlike(name, _DATABASE)
    return value


def zone(name: str, default: str) -> str:
    """The name of a time zone that is known here."""
    value = text(name, default)
    try:
        return ZoneInfo(value).key
    except (KeyError, ValueError, OSError):
        raise _unlike(name, "the name of a time zone, such as Europe/Berlin") from None


def _parse(name: str, raw: str, kind: Callable[[str], T], expected: str) -> T:
    try:
        return kind(raw)
    except (ValueError, InvalidOperation):
        raise _wrong(name, expected, raw) from None


def _wrong(name: str, expected: str, found: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name} must be {expected}, but it is {found!r}.")


def _unlike(name: str, expected: str) -> ImproperlyConfigured:
    """Without what was found, which may be a secret."""
    return ImproperlyConfigured(f"{name} must be {expected}.")
