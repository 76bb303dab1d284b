"""Log lines that carry the run, the step and the attempt they belong to.

    with log.bound(run=run.id, step=7, attempt=2):
        logger.info("calling the model")

What is bound lives in a context variable: it holds for the thread that entered
the block and for nothing else, and blocks within blocks add up.

Both formats write one record as one: secrets are hidden, in tracebacks too, and no text
from outside can end a line, begin one that looks like ours, or steer a terminal.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from agentops import env, outage, redaction, unseen

KEYS = ("run", "step", "attempt")
FORMATS = ("plain", "json")

_STEERING = re.compile(f"[{unseen.STEERING}]")

_nothing: Mapping[str, str] = MappingProxyType({})
_bound: ContextVar[Mapping[str, str]] = ContextVar("agentops_log", default=_nothing)


@contextmanager
def bound(**values: object) -> Iterator[None]:
    """Put `run`, `step` or `attempt` on every line logged inside the block."""
    unknown = set(values) - set(KEYS)
    if unknown:
        raise TypeError(f"only {', '.join(KEYS)} can be bound, not {unknown}")
    token = _bound.set({**_bound.get(), **{k: str(v) for k, v in values.items()}})
    try:
        yield
    finally:
        _bound.reset(token)


def current() -> Mapping[str, str]:
    """What is bound here and now."""
    return _bound.get()


class ContextFilter(logging.Filter):
    """Copies what is bound onto the record; keeps what the caller gave."""

    def filter(self, record: logging.LogRecord) -> bool:
        values = _bound.get()
        for key in KEYS:
            if not hasattr(record, key):
                setattr(record, key, values.get(key, "-"))
        return True


class OneLine(logging.Formatter):
    """What models, tools and networks say cannot begin a line of its own, nor steer
    the terminal it is read in."""

    def format(self, record: logging.LogRecord) -> str:
        """Without secrets; what a traceback says is set in."""
        first, *rest = redaction.hide(super().format(record)).split("\n")
        return "\n    ".join([first, *(_STEERING.sub(_spelt, line) for line in rest)])

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        record.message = _STEERING.sub(_spelt, record.message)
        return super().formatMessage(record)


def _spelt(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


class Json(JsonFormatter):
    """One object per line; everything but ASCII is escaped in it."""

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = redaction.hide_in(super().process_log_record(log_data))
        return kept


class WithoutTraceback(logging.Filter):
    """Keeps of a refusal, which anybody can cause at will, nothing but the message."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True


class OutagesInALine(logging.Filter):
    """Says why in the line itself: that a database is away is no mistake of the code
    that asked it, and a traceback would look like one."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and outage.is_outage(error):
            record.msg = f"{record.getMessage()}: {outage.first_line(error)}"
            record.args = record.exc_info = record.exc_text = None
        return True


class AnswersAreNoNews(logging.Filter):
    """A refused form (422) and a decision that came second (409) are no warnings.

    Django logs each as one; they are told of as they are where INFO is wanted. Of too
    many tries (429) `agentops.throttle` has told.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 0) not in {409, 422, 429}:
            return True
        record.levelno, record.levelname = logging.INFO, "INFO"
        return logging.getLogger().level <= logging.INFO


def config() -> dict[str, Any]:
    """The value of Django's `LOGGING`, as `AGENTOPS_LOG` and `_LEVEL` ask."""
    level = env.choice(
        "AGENTOPS_LOG_LEVEL", "INFO", among=("DEBUG", "INFO", "WARNING", "ERROR")
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "context": {"()": "agentops.log.ContextFilter"},
            "without traceback": {"()": "agentops.log.WithoutTraceback"},
            "outages": {"()": "agentops.log.OutagesInALine"},
            "answers": {"()": "agentops.log.AnswersAreNoNews"},
        },
        "formatters": {
            "plain": {
                "()": "agentops.log.OneLine",
                "fmt": "{asctime} {levelname} {name} "
                "run={run} step={step} attempt={attempt} {message}",
                "style": "{",
            },
            "json": {
                "()": "agentops.log.Json",
                "fmt": "{asctime} {levelname} {name} {run} {step} {attempt} {message}",
                "style": "{",
                "rename_fields": {"asctime": "time", "levelname": "level"},
            },
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "filters": ["context", "without traceback"],
                "formatter": env.choice("AGENTOPS_LOG", "plain", among=FORMATS),
            }
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            # Its own lines tell of every task; a driver's task is not news.
            "django-q": {"level": "WARNING", "filters": ["outages"]},
            "django.request": {"filters": ["answers"]},
            # Their own handlers would write past the formats above, and mail errors.
            "django": {"handlers": [], "propagate": True},
            "django.server": {"handlers": [], "propagate": True},
            "gunicorn.access": {"handlers": [], "propagate": True},
            "gunicorn.error": {"handlers": [], "propagate": True},
            # `agentops.throttle` says what matters of it in one line.
            "axes": {"level": "ERROR"},
            "httpx2": {"level": "WARNING"},
            "httpcore2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
        },
    }
