"""Every kind of decision there is, found in this package."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import TypeVar

from reviews.decisions.base import DecisionKind
from reviews.models import Review
from reviews.models.review import ReviewStatus
from runs.errors import BadInput

_PACKAGE = "reviews.decisions"
_kinds: dict[str, DecisionKind] = {}

K = TypeVar("K", bound=type[DecisionKind])


def decision_kind(cls: K) -> K:
    """Add a kind; raises ValueError if its name or key is taken."""
    for known in _kinds.values():
        same_key = cls.key and cls.key == known.key
        if (cls.kind == known.kind or same_key) and type(known) is not cls:
            raise ValueError(f"{cls.__name__} clashes with {type(known).__name__}")
    _kinds[cls.kind] = cls()
    return cls


def all_kinds() -> list[DecisionKind]:
    """Every kind, in the order of their buttons."""
    _discover()
    return sorted(_kinds.values(), key=lambda kind: (kind.order, kind.kind))


def find(kind: str) -> DecisionKind:
    """Raises `BadInput` for a kind that does not exist."""
    _discover()
    try:
        return _kinds[kind]
    except KeyError:
        raise BadInput({"kind": "There is no such decision."}) from None


def past(kind: str) -> DecisionKind:
    """The kind of a decision that was made; a plain one if it is gone since."""
    _discover()
    return _kinds.get(kind) or DecisionKind()


def done(kind: str) -> str:
    """What was decided, in words; its name for a kind that is gone since."""
    _discover()
    return _kinds[kind].done if kind in _kinds else kind.replace("_", " ").capitalize()


def tone(kind: str) -> str:
    """What a decision said of what was asked for: good, wait (neither), bad."""
    _discover()
    return _kinds[kind].tone if kind in _kinds else "wait"


def for_many() -> list[DecisionKind]:
    """The kinds that many items can be decided by together, in their order."""
    return [kind for kind in all_kinds() if kind.verb]


def offered(review: Review) -> list[DecisionKind]:
    """What may be decided about this review, in the order of the buttons."""
    return [kind for kind in all_kinds() if is_offered(kind, review)]


def is_offered(kind: DecisionKind, review: Review) -> bool:
    """May this be decided here? Once an item has expired, little may."""
    if review.status == ReviewStatus.EXPIRED.value and not kind.after_expiry:
        return False
    return kind.offered(review)


@cache
def _discover() -> None:
    package = import_module(_PACKAGE)
    for info in pkgutil.iter_modules(package.__path__, prefix=f"{_PACKAGE}."):
        import_module(info.name)
