"""People of a history: what they send, and which refusals they may meet."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from agentops import clock
from reviews.decisions import registry
from reviews.models import Review
from reviews.services import decide
from reviews.stale import StaleReview, has_expired, is_held_by_another
from runs import forking
from runs.errors import BadInput
from tests.model.tools import FOR_GOOD, outside

NEVER_REFUSED = frozenset({"reject", "guide", "abort", "answer", "retry", "go_on"})
"""Kinds that fit wherever they are offered, on an item that is as it was shown."""


def payload(review: Review, kind: str, *, is_honest: bool) -> dict[str, Any]:
    """What a browser would send; who is not honest says that all has happened."""
    sends = _SENDS.get(kind)
    if sends is None:
        return {"text": "Because.", "note": "Mind the gap."}
    return sends(review, is_honest)


def _outcome(review: Review, is_honest: bool) -> dict[str, Any]:
    done = bool(outside.done[review.proposal["key"]])
    return {"happened": "yes" if done or not is_honest else "no"}


def _edit(review: Review, is_honest: bool) -> dict[str, Any]:
    return {"arguments": {"what": f"edited {review.version}"}}


def _top_up(review: Review, is_honest: bool) -> dict[str, Any]:
    more = {"steps": 40, "seconds": 3600, "money": "0.3", "tokens": 90_000}
    has = review.run.limits
    return {f"limits.{name}": str(more[name]) for name in more if has.get(name)}


def _fork(review: Review, is_honest: bool) -> dict[str, Any]:
    places = forking.places(review.run)
    return {"step": str(places[0 if is_honest else -1].number)}


def _plan(review: Review, is_honest: bool) -> dict[str, Any]:
    return {"items": "Only this" if is_honest else "One\nTwo"}


def _supply(review: Review, is_honest: bool) -> dict[str, Any]:
    return {"type": "text", "result": "I did it myself."}


_SENDS = {
    "outcome": _outcome,
    "edit": _edit,
    "top_up": _top_up,
    "fork": _fork,
    "plan": _plan,
    "supply": _supply,
}


def kinds(review: Review) -> list[str]:
    """What may be decided here; what ends the run stands there less often.

    Without the fork of a run that has nowhere to start from.
    """
    found = [kind.kind for kind in registry.offered(review)]
    if not forking.places(review.run):
        found.remove("fork")
    going_on = [kind for kind in found if kind not in ("abort", "fork")]
    return [*going_on, *found, *going_on, *going_on]


def send(
    review: Review, by: User, kind: str, *, is_honest: bool = True
) -> Exception | None:
    """Decide on the item as `review` shows it; what it was refused with, if it was."""
    sent = payload(review, kind, is_honest=is_honest)
    before = _refusals(review, by)
    try:
        decide(
            review.pk,
            by=by,
            kind=kind,
            item_version=review.version,
            digest=review.digest,
            payload=sent,
        )
    except (StaleReview, BadInput) as refused:
        if not before and kind in NEVER_REFUSED:
            raise
        return refused
    assert "expired" not in before, "a decision on what had expired"
    assert "held" not in before, "a decision on what another person held"
    _note_what_was_said(review, kind, sent)
    return None


def _refusals(review: Review, by: User) -> set[str]:
    """Why the item as it stands now would not take a decision on `review`."""
    now = clock.now()
    fresh = Review.objects.get(pk=review.pk)
    found = set()
    if fresh.version != review.version or fresh.status != review.status:
        found.add("stale")
    if fresh.status == "open" and has_expired(fresh, now):
        found.add("expired")
    if is_held_by_another(fresh, by, now):
        found.add("held")
    return found


def _note_what_was_said(review: Review, kind: str, sent: dict[str, Any]) -> None:
    key = (review.proposal or {}).get("key", "")
    if kind == "outcome" and sent["happened"] == "no":
        outside.denied[key] += 1
    elif kind in ("outcome", "supply"):
        outside.believed.add(key)
    if kind == "supply" and review.tool in FOR_GOOD:
        outside.closed[key] = outside.done[key]
