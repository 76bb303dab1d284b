"""Tags and filters for every template: icons, moments, figures, text shown safely."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from agentops import clock, rendered
from agentops.markdown import to_html
from runs import timeline, words
from runs.canonical import Json
from runs.words import HIDDEN

register = template.Library()

ABSOLUTE = "%-d %b %Y, %H:%M:%S %Z"
ALIKE = "\u0370-\u03ff\u0400-\u052f\u0531-\u058f\u13a0-\u13ff\u1d00-\u1dbf\uff10-\uff5e"
"""Alphabets with letters that are taken for Latin ones."""
MIXED = re.compile(rf"\b(?=\w*[A-Za-z])(?=\w*[{ALIKE}])\w+")
_ALIKE = re.compile(f"[{ALIKE}]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_RUN = re.compile(r"[^\s<>&;\"'()]+")
_ADDRESS = re.compile(r"@|://|\.[a-z]{2,}(?![\w])")

register.filter("money", words.money)
register.filter("duration", words.duration)
register.filter("count", words.count)
register.filter("percent", words.percent)
register.filter("bytes", words.size)
register.filter("plural", words.plural)


@register.filter
def milliseconds(number: float) -> str:
    return words.duration(number / 1000)


@register.filter
def error_class(name: str) -> str:
    """A class of errors in words, as the timeline has it."""
    return timeline.ERROR_WORDS.get(name, name).lower()


@register.filter
def tries(number: int) -> str:
    return words.plural(number, "failed try", "failed tries")


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str) -> SafeString:
    """One symbol of the sprite; decoration, the words beside it say the same.

    A page has dozens, and they are the same for as long as the process lives.
    """
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#i-{}"/></svg>',
        static("img/icons.svg"),
        name,
    )


@register.simple_tag
def ago(moment: datetime | None, before: str = "") -> SafeString:
    """How long ago, kept up to date in the browser; the moment itself on hover."""
    if moment is None:
        return SafeString("")
    text = words.ago(moment, clock.now())
    return _time(moment, f"{before} {text}".strip(), f'data-ago="{before}"')


@register.simple_tag
def left(deadline: datetime) -> SafeString:
    return _time(deadline, words.left(deadline, clock.now()), "data-left")


@register.simple_tag
def moment(at: datetime | None) -> SafeString:
    """The time of the day, with the date on hover."""
    if at is None:
        return SafeString("")
    return _time(at, timezone.localtime(at).strftime("%H:%M:%S"), "data-clock")


def _time(at: datetime, text: str, extra: str) -> SafeString:
    local = timezone.localtime(at)
    return format_html(
        '<time datetime="{}" title="{}" {}>{}</time>',
        local.isoformat(timespec="seconds"),
        local.strftime(ABSOLUTE),
        mark_safe(extra),  # noqa: S308 - a constant of this module
        text,
    )


@register.filter
def tone_of_time(deadline: datetime) -> str:
    """Bad when overdue, waiting in the last hour, else nothing."""
    return words.urgency(deadline, clock.now())


@register.filter
def markdown(text: str) -> SafeString:
    """As its reader gets it; links are told in full, and what is hidden is shown."""
    parts = rendered.read(to_html(text)).parts
    shown = (part.tag or visible(part.text) for part in parts)
    return mark_safe("".join(shown))  # noqa: S308 - tags as the sanitiser left them


@register.filter
def visible(text: object) -> SafeString:
    """Text with its control and invisible characters shown as marked code points."""
    shown = conditional_escape(text if isinstance(text, str) else str(text))
    escaped = str(shown).replace("\r\n", "\n")
    if not escaped.isascii():
        escaped = _RUN.sub(_unmask, escaped)
    return mark_safe(HIDDEN.sub(_mark, escaped))  # noqa: S308 - escaped above


def _unmask(found: re.Match[str]) -> str:
    """Letters that pass for others: in addresses any that is not ASCII, in words
    those of another alphabet beside Latin ones."""
    run = found[0]
    if run.isascii():
        return run
    if _ADDRESS.search(run):
        return _NOT_ASCII.sub(_named, run)
    return MIXED.sub(lambda word: _ALIKE.sub(_named, word[0]), run)


def _named(found: re.Match[str]) -> str:
    """The letter and its number; what is hidden is left to its own mark."""
    letter = found[0]
    if HIDDEN.match(letter) or not letter.isalnum():
        return letter
    name = unicodedata.name(letter, "").lower()
    return (
        f'<mark class="hidden-char" title="Not what it looks like: {name}">{letter}'
        f"<small>U+{ord(letter):04X}</small></mark>"
    )


def _mark(found: re.Match[str]) -> str:
    code = f"{ord(found[0]):04X}"
    return (
        '<mark class="hidden-char" title="A character that is not visible">'
        f"U+{code}</mark>"
    )


@register.filter
def pretty(value: Json) -> str:
    """JSON on several lines; text stays text."""
    if isinstance(value, str):
        return value
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


@register.filter
def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


@register.filter
def grouped(value: object) -> str:
    """A cell of a table: numbers with thousands divided, the rest as it is."""
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,}" if isinstance(value, float) else str(value)


@register.filter
def initials(user: Any) -> str:
    """Two letters for the round mark beside a name."""
    name = "".join(c for c in words.person(user) if c.isalnum() or c in " .-")
    parts = name.replace(".", " ").replace("-", " ").split()
    letters = "".join(part[0] for part in parts[:2]) if len(parts) > 1 else name[:2]
    return letters.upper()


register.filter("person", words.person)
register.filter("plainly", words.plainly)
