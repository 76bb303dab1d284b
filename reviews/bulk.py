"""One decision on many items: what keeps an item out, and a receipt for each.

Each item is decided by `services.decide`, in a transaction of its own, bound to the
version and the digest that were shown. A batch holds nothing together but its name:
what cannot be decided is told why, and stays as it was.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import DatabaseError

from agentops import clock
from agentops.http import number
from reviews import inbox, rights, services
from reviews.decisions import registry
from reviews.models import Decision, Review
from reviews.models.review import ReviewKind, ReviewStatus
from reviews.services import Together
from reviews.stale import StaleReview
from runs import words
from runs.errors import BadInput, NotPermitted, StepError
from runs.states import ParkReason
from runs.tools import registry as tools
from runs.tools.base import Effect

logger = logging.getLogger(__name__)

MOST = 50
"""Items in a batch."""
PER_SECOND = 10
"""Of runs that are retried together, so many go on in the same second."""
TIME_S = 20.0
"""What is not reached by then is left as it was, so that the page still answers."""

UNREAD = ("search_text", "run__search_text", "run__output")

_NEEDS = {
    ParkReason.QUESTION: "It needs an answer of its own.",
    ParkReason.BUDGET: "It needs new limits of its own.",
    ParkReason.OUTCOME_UNKNOWN: "Somebody has to say what happened.",
}
_MAKES_THE_CALL = frozenset({"approve", "retry"})
_ASKS_ABOUT_A_CHANGE = "It changed since it was first shown: read it by itself."


@dataclass(frozen=True)
class Item:
    """An item as it was shown: `text` is how a form carries it."""

    id: UUID
    version: int
    digest: str

    @classmethod
    def of(cls, review: Review) -> Item:
        return cls(review.pk, review.version, review.digest)

    @classmethod
    def read(cls, text: str) -> Item | None:
        """From a form; an id alone has version 0, which fits no item."""
        name, _, rest = text.partition(":")
        version, _, digest = rest.partition(":")
        try:
            return cls(UUID(name), number(version), digest[:64])
        except ValueError:
            return None

    @property
    def text(self) -> str:
        return f"{self.id}:{self.version}:{self.digest}"


@dataclass(frozen=True)
class Receipt:
    """What became of one item: the decision that stands, or why there is none."""

    review: Review
    decision: Decision | None
    why_not: str = ""

    @property
    def words(self) -> str:
        return registry.done(self.decision.kind) if self.decision else self.why_not


def why_not(review: Review, kind: str, by: User, now: datetime) -> str:
    """Why the item is left out of a batch of that kind, or "". No query.

    `review` is one the person may see, with run, agent and holder at hand.
    """
    if review.status != ReviewStatus.OPEN.value:
        return f"{inbox.row(review, by, now).ended} meanwhile."
    if review.kind != ReviewKind.WAITING.value:
        return "Its run did not wait; judge it by itself."
    return (
        rights.is_own(by, review)
        or _held(review, by, now)
        or _unfit(review, kind)
        or _too_much(review, kind)
    )


def _held(review: Review, by: User, now: datetime) -> str:
    row = inbox.row(review, by, now)
    if not row.is_held or row.is_yours or review.holder is None:
        return ""
    who, until = words.person(review.holder), review.holder_until or now
    return f"{who} holds it until {words.at(until, now)}."


def _unfit(review: Review, kind: str) -> str:
    if registry.find(kind).offered(review):
        return ""
    reason = ParkReason(review.reason)
    return _NEEDS.get(reason, f"Of another kind ({reason.label.lower()}).")


def _too_much(review: Review, kind: str) -> str:
    """What a person has to look at one by one."""
    if kind in _MAKES_THE_CALL and would_act_for_good(review, kind):
        return "Its call cannot be undone: decide on it by itself."
    is_changed = review.reason == ParkReason.CHANGED or "changed" in review.detail
    if kind == "approve" and is_changed:
        return _ASKS_ABOUT_A_CHANGE
    return ""


def would_act_for_good(review: Review, kind: str) -> bool:
    """Would that decision make an irreversible call?

    Asked of the proposal and of the tool with these very arguments; a tool that is
    gone or cannot tell counts as irreversible. A failed check is retried alone.
    """
    if kind == "retry" and review.reason == ParkReason.CHECK_FAILED:
        return False
    call: Mapping[str, Any] = review.proposal or {}
    if not call:
        return False
    if call.get("effect") == Effect.IRREVERSIBLE.value:
        return True
    try:
        effect = tools.get(call["tool"]).effect_for(call["arguments"])
    except (KeyError, StepError):
        return True
    return effect is Effect.IRREVERSIBLE


def found(ids: Iterable[UUID], user: User) -> dict[UUID, Review]:
    """Those of the items that the person may see, as lists show them; two queries."""
    whole = inbox.seen_by(user).defer(*UNREAD).filter(pk__in=list(ids))
    return {one.pk: one for one in inbox.with_decisions(list(whole))}


def decide(
    items: Sequence[Item],
    *,
    by: User,
    kind: str,
    batch: str,
    payload: Mapping[str, Any] | None = None,
) -> list[Receipt]:
    """Decide on each item, and say of each what became of it, in their order.

    Raises `BadInput`, with nothing decided, for a kind that is not decided in bulk,
    none or more than `MOST` items, or words that are missing. What is sent twice, by the
    same person and in the same words, has the same receipts. An item nobody may
    see has none.
    """
    if not registry.find(kind).verb:
        raise BadInput({"kind": "This is decided one by one."})
    if len(items) > MOST:
        raise BadInput({"": f"At most {MOST} at a time; nothing was decided."})
    if not items:
        raise BadInput({"": "Nothing is ticked; nothing was decided."})
    reviews = found([item.id for item in items], by)
    known = [item for item in items if item.id in reviews]
    payload = payload or {}
    if known:
        registry.find(kind).clean(reviews[known[0].id], payload)
    ends = time.monotonic() + TIME_S
    receipts: list[Receipt] = []
    for item in known:
        review = reviews[item.id]
        if time.monotonic() > ends:
            receipts.append(Receipt(review, None, "Not reached in time."))
            continue
        together = Together(batch, _delay_s(kind, receipts))
        receipts.append(_one(review, item, by, kind, together, payload))
    return receipts


def _delay_s(kind: str, before: Sequence[Receipt]) -> float:
    """What an outage stopped does not come back in the same moment."""
    if kind != "retry":
        return 0.0
    return float(sum(one.decision is not None for one in before) // PER_SECOND)


def _one(
    review: Review,
    item: Item,
    by: User,
    kind: str,
    together: Together,
    payload: Mapping[str, Any],
) -> Receipt:
    is_open = review.status == ReviewStatus.OPEN.value
    if is_open and (reason := why_not(review, kind, by, clock.now())):
        return Receipt(review, None, reason)
    try:
        decision = services.decide(
            review.pk,
            by=by,
            kind=kind,
            item_version=item.version,
            digest=item.digest,
            together=together,
            payload=payload,
        )
    except (StaleReview, NotPermitted, BadInput) as error:
        return Receipt(review, None, error.message)
    except DatabaseError:
        logger.exception("an item of a batch could not be decided")
        return Receipt(review, None, "The database did not take it. Try it again.")
    return Receipt(review, decision)
