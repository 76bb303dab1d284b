"""Any exception as what happens next, the wait before another try, and its words.

`classify` goes by type, never by words. Every error text that is stored or shown passes
`told` once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from pydantic import ValidationError

from agentops import redaction
from runs.canonical import QUOTE, clean_text, shorten
from runs.errors import Fatal, InvalidCall, StepError, Transient

MAX_DOUBLINGS = 32

DATABASE_MODULES = ("psycopg", "django.db", "sqlite3")
DATABASE_NAMES = frozenset({"OperationalError", "InterfaceError"})


class Rng(Protocol):
    """The one method of `random.Random` that is used: a number in [0, 1)."""

    def random(self) -> float: ...


def classify(error: BaseException) -> StepError:
    """What a tool's exception means for its step.

    A `StepError` passes as it is. What networks, files and databases raise is
    `Transient`, a pydantic `ValidationError` is `InvalidCall`, anything else is
    `Fatal` with the class's name. Texts are cleaned, without secrets, and shortened.
    """
    if isinstance(error, StepError):
        return error
    if isinstance(error, ValidationError):
        return InvalidCall(told(_problems(error)))
    if isinstance(error, OSError) or _is_database_trouble(type(error)):
        return Transient(told(named(error)))
    return Fatal(told(named(error)))


def backoff(
    attempt: int,
    *,
    base: float,
    cap: float,
    retry_after: float | None = None,
    rng: Rng,
) -> float:
    """Seconds to wait after failed try number `attempt` (from 1) of the same step.

        step  = min(cap, base * 2 ** (attempt - 1))
        delay = max(step, retry_after) + step * rng.random()

    The exponential steps and the jitter as wide as the step ("full jitter") are
    Marc Brooker's, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    There the delay is drawn from [0, step); here from [step, 2 * step), so that
    it grows with every try and never falls below what the other side asked for.
    """
    step = min(cap, base * 2.0 ** min(max(attempt - 1, 0), MAX_DOUBLINGS))
    return max(step, retry_after or 0.0) + step * rng.random()


def told(text: str, secrets: Iterable[str] = ()) -> str:
    """An error's text as it may be stored: clean, without secrets, at most 500 long.

    Without these `secrets`, too, in whatever shape.
    """
    whole = clean_text(text[: 20 * QUOTE])
    return shorten(redaction.hide_quoted(whole, secrets), QUOTE)


def named(error: BaseException) -> str:
    """The error's class and words; the class alone if it has none, or breaks."""
    try:
        words = str(error).strip()
    except Exception:  # noqa: BLE001 - an error that cannot be told is still one
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, item['loc'])) or 'value'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)[:10]
    )


def _is_database_trouble(kind: type[BaseException]) -> bool:
    """Known by the module and name of its classes, so that no driver is imported."""
    return any(
        base.__name__ in DATABASE_NAMES and base.__module__.startswith(DATABASE_MODULES)
        for base in kind.__mro__
    )
