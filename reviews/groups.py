"""Look-alikes that wait: the groups above the list, and those of one item. Reads only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import Count, Q, Window
from django.db.models.functions import RowNumber

from agentops.conf import product
from reviews import alike
from reviews.models import Review
from reviews.models.review import ReviewQuerySet
from runs.canonical import Json, shorten
from runs.states import ParkReason
from runs.tools.base import titled

SHOWN = 3
COMPARED = 60
FORMS = frozenset(
    {ParkReason.QUESTION, ParkReason.BUDGET, ParkReason.OUTCOME_UNKNOWN}
)  # fmt: skip
"""Each of these needs words or figures of its own."""


@dataclass(frozen=True)
class Group:
    """Some look-alikes: `words` say how many and what differs, `what` what they are."""

    shape: str
    size: int
    what: str
    words: str
    is_stopped: bool

    @property
    def others(self) -> int:
        return self.size - 1


def decidable(user: User) -> ReviewQuerySet:
    """What waits and the person may decide on, whoever holds it now."""
    waiting = Review.objects.visible_to(user).open()
    if product().allow_self_decision:
        return waiting
    own = Q(run__submitter=user) & Q(run__agent__allow_self_decision=False)
    return waiting.exclude(own)


def among(user: User, reviews: Iterable[Review]) -> list[Group]:
    """The largest groups that the reviews belong to; two queries, or none."""
    shapes = {r.shape for r in reviews if r.shape and ParkReason(r.reason) not in FORMS}
    if not shapes or not user.has_perm("reviews.decide_review"):
        return []
    sizes = _sizes(user, shapes)
    if not sizes:
        return []
    known = _known(user, sizes)
    return [_group(shape, size, known[shape]) for shape, size in sizes.items()]


def members(user: User, shape: str) -> list[Any]:
    """The ids of a group, in the order of the inbox; one query."""
    found = decidable(user).filter(shape=shape).order_by("rank_at", "pk")
    return list(found.values_list("pk", flat=True))


@dataclass(frozen=True)
class _Member:
    COLUMNS: ClassVar = ("reason", "tool", "question", "proposal")

    reason: str
    tool: str
    question: str
    proposal: Mapping[str, Json]


def _sizes(user: User, shapes: set[str]) -> dict[str, int]:
    counted = (
        decidable(user)
        .filter(shape__in=shapes)
        .order_by()
        .values("shape")
        .annotate(size=Count("pk", distinct=True))
        .filter(size__gte=alike.FEWEST)
        .order_by("-size", "shape")
        .values_list("shape", "size")
    )
    return dict(counted[:SHOWN])


def _known(user: User, shapes: Iterable[str]) -> dict[str, list[_Member]]:
    """Up to `COMPARED` members of each, those of the highest rank."""
    mine = decidable(user).filter(shape__in=list(shapes)).order_by()
    first = ["rank_at", "pk"]
    place = Window(RowNumber(), partition_by="shape", order_by=first)
    found = Review.objects.filter(pk__in=mine.values("pk")).annotate(place=place)
    rows = found.filter(place__lte=COMPARED).order_by(*first)
    known: dict[str, list[_Member]] = defaultdict(list)
    for shape, *member in rows.values_list("shape", *_Member.COLUMNS):
        known[shape].append(_Member(*member))
    return known


def _group(shape: str, size: int, known: Sequence[_Member]) -> Group:
    first = known[0]
    is_stopped = ParkReason(first.reason) in alike.STOPPED
    if is_stopped:
        what = f"{size} runs stopped with: {_trouble(first.question)}"
        return Group(shape, size, what, f"{size} alike", True)
    what = titled(first.tool) if first.tool else ParkReason(first.reason).label
    compared = alike.compare([one.proposal.get("arguments", {}) for one in known])
    return Group(shape, size, what, _words(size, compared), False)


def _words(size: int, compared: alike.Comparison) -> str:
    if size == compared.size or not compared.outliers:
        return compared.words if size == compared.size else f"{size} alike"
    return f"{size} alike; of the first {compared.size}, {compared.words}"


def _trouble(question: str) -> str:
    """What went wrong, without the words before it."""
    head, colon, rest = question.partition(": ")
    return shorten(rest if colon and len(head) < 60 else question, 140)
