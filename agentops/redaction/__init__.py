"""The one door by which secrets are taken out of texts, before anything keeps them.

    hide("use sk-proj-…")           → "use [hidden: an API key]"
    hide_quoted("sk-…xyz is bad")   → "[hidden: a secret] is bad": in errors, which quote
    with counted() as hidden: …     what was taken out inside the block, by kind

Two things are known: the values that this installation keeps secret (`values`), in
every form in which they travel, and the shapes of well-known ones (`shapes`). What
is hidden is gone: nothing can bring it back, so a call must not hold a placeholder.

Every pass is linear in the text. Texts without a word that a rule begins with, which
are nearly all, are only searched and come back as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from agentops.redaction import quoted
from agentops.redaction.shapes import RULES, SECRET, Rule, in_field
from agentops.redaction.values import forget, known, learn

__all__ = [
    "counted",
    "forget",
    "has_placeholder",
    "hide",
    "hide_in",
    "hide_quoted",
    "in_words",
    "learn",
]

START = "[hidden: "
"""How every placeholder begins."""

_count: ContextVar[Counter[str] | None] = ContextVar("agentops_hidden", default=None)


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts what is hidden inside the block, by kind; blocks within do not add up."""
    hidden: Counter[str] = Counter()
    token = _count.set(hidden)
    try:
        yield hidden
    finally:
        _count.reset(token)


def in_words(hidden: Mapping[str, int]) -> str:
    """ "an API key, a password (2)" """
    return ", ".join(
        f"{kind} ({number})" if number > 1 else kind for kind, number in hidden.items()
    )


def hide(text: str) -> str:
    """The text with a placeholder for every secret; itself where there is none."""
    return _hidden(text, *_wanted(text))


def hide_quoted(text: str, sent: Iterable[str] = ()) -> str:
    """An error's text without what was `sent`, and without what may be a part of a secret.

    It takes out more than `hide`: see `quoted`.
    """
    # The longest first: one may be the beginning of another.
    for secret in sorted(sent, key=len, reverse=True):
        if len(secret) >= quoted.SHORTEST and secret in text:
            _tell(SECRET, text.count(secret))
            text = text.replace(secret, _placeholder(SECRET))
    values, rules = _wanted(text)
    return _hidden(text, values, [*rules, *quoted.RULES])


def hide_in(value: Any) -> Any:
    """`hide` in every text of a JSON value, keys included; the value if nothing is."""
    if isinstance(value, str):
        return hide(value)
    texts: list[str] = []
    _collect(value, texts)
    wanted = _wanted("\n".join(texts))
    return _walk(value, *wanted) if any(wanted) else value


def has_placeholder(value: Any) -> bool:
    """Does a text of this JSON value hold a placeholder?"""
    texts: list[str] = []
    _collect(value, texts)
    return START in "\n".join(texts)


Wanted = tuple[Sequence[str], Sequence[Rule]]
"""The known values that are in a text, and the rules that may find something."""


def _wanted(text: str) -> Wanted:
    values = [value for value in known() if value in text]
    lower = text.lower()
    return values, [rule for rule in RULES if rule.may_match(text, lower)]


def _hidden(text: str, values: Sequence[str], rules: Sequence[Rule]) -> str:
    for value in values:
        if value in text:
            _tell(known()[value], text.count(value))
            text = text.replace(value, _placeholder(known()[value]))
    for rule in rules:
        text = rule.pattern.sub(partial(_replaced, rule), text)
    return text


def _replaced(rule: Rule, found: Any) -> str:
    """The match with its group `secret` hidden, or as it was if it is none."""
    secret = found["secret"]
    if not rule.is_one(secret):
        return str(found[0])
    _tell(rule.kind, 1)
    begin, end = found.span("secret")
    start = found.start()
    whole: str = found[0]
    return whole[: begin - start] + _placeholder(rule.kind) + whole[end - start :]


def _placeholder(kind: str) -> str:
    """What stands where something of this kind was."""
    return f"{START}{kind}]"


def _tell(kind: str, number: int) -> None:
    hidden = _count.get()
    if hidden is not None:
        hidden[kind] += number


def _walk(value: Any, values: Sequence[str], rules: Sequence[Rule]) -> Any:
    if isinstance(value, str):
        return _hidden(value, values, rules)
    if isinstance(value, Mapping):
        names = _apart(_hidden(name, values, rules) for name in value)
        return {
            shown: _field(name, inner, values, rules)
            for shown, (name, inner) in zip(names, value.items(), strict=True)
        }
    if isinstance(value, list | tuple):
        return [_walk(inner, values, rules) for inner in value]
    return value


def _apart(names: Iterable[str]) -> Iterator[str]:
    """Fields whose names look alike once something in them is hidden stay two."""
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _field(name: str, inner: Any, values: Sequence[str], rules: Sequence[Rule]) -> Any:
    """A text whose name says what it is needs no shape of its own."""
    kind = in_field(name, inner) if isinstance(inner, str) else ""
    if kind:
        _tell(kind, 1)
        return _placeholder(kind)
    return _walk(inner, values, rules)


def _collect(value: Any, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            texts.append(name)
            _collect(inner, texts)
    elif isinstance(value, list | tuple):
        for inner in value:
            _collect(inner, texts)
