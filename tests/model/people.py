"""People of a history: what they send, and which refusals they may meet."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from agentops import clock
from reviews.decisions import registry
from reviews.models import Decision, Review
from reviews.services import decide
from reviews.stale import StaleReview
from runs import forking, policy
from runs.errors import BadInput
from runs.models import Effect, Run
from runs.values import AgentConfig
from tests.model.drivers import Killed
from tests.model.tools import FOR_GOOD, outside

NEVER_REFUSED = frozenset({"reject", "guide", "abort", "answer", "retry", "go_on"})
"""Kinds that fit wherever they are offered, on an item that is as it was shown."""
MAKES_THE_CALL = frozenset({"approve", "retry"})
"""Kinds that let the very call be made that was shown."""


def payload(review: Review, kind: str, *, is_honest: bool) -> dict[str, Any]:
    """What a browser would send; who is not honest says the contrary of what is so."""
    sends = _SENDS.get(kind)
    if sends is None:
        return {"text": "Because.", "note": "Mind the gap."}
    return sends(review, is_honest)


def _outcome(review: Review, is_honest: bool) -> dict[str, Any]:
    has_happened = bool(outside.done[review.proposal["key"]])
    return {"happened": "yes" if has_happened == is_honest else "no"}


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
    if "fork" in found and not forking.places(review.run):
        found.remove("fork")
    going_on = [kind for kind in found if kind not in ("abort", "fork")]
    return [*going_on, *found, *going_on, *going_on]


def send(
    review: Review, by: User, kind: str, *, is_honest: bool = True
) -> Exception | None:
    """Decide on the item as `review` shows it; what it was refused with, if it was."""
    sent = payload(review, kind, is_honest=is_honest)
    before, known = _refusals(review, by, kind), Decision.objects.count()
    is_told = _is_told(review)
    try:
        decide(
            review.pk,
            by=by,
            kind=kind,
            item_version=review.version,
            digest=review.digest,
            payload=sent,
        )
    except Killed:
        if Decision.objects.count() > known:  # it died right after the commit
            _note_what_was_said(review, kind, sent, is_told=is_told)
        raise
    except (StaleReview, BadInput) as refused:
        if not before and kind in NEVER_REFUSED:
            raise
        return refused
    if Decision.objects.count() == known:  # the very same had been decided already
        assert before, "a decision was taken, and there is none"
        return None
    assert not before, f"a decision on what was {before}"
    _note_what_was_said(review, kind, sent, is_told=is_told)
    return None


def _is_told(review: Review) -> bool:
    """Does the ledger know that the call has happened, whatever anybody says?"""
    key = (review.proposal or {}).get("key", "")
    return Effect.objects.filter(key=key, status="done").exists()


def _refusals(review: Review, by: User, kind: str) -> set[str]:
    """Why the item as it stands now would not take a decision on `review`."""
    now = clock.now()
    fresh = Review.objects.get(pk=review.pk)
    found = set()
    if fresh.version != review.version or fresh.status != review.status:
        found.add("stale")
    if fresh.status == "open" and fresh.expires_at and fresh.expires_at <= now:
        found.add("expired")
    if is_held_by_another(fresh, by):
        found.add("held")
    if kind in MAKES_THE_CALL and _would_run_otherwise(fresh):
        found.add("changed")
    return found


def _would_run_otherwise(review: Review) -> bool:
    """Has an admin changed what the call was shown to run under?"""
    run = Run.objects.select_related("version").get(pk=review.run_id)
    toolbox = policy.read().toolbox(AgentConfig.of(run.version.config))
    if not review.seal or review.tool not in toolbox.allowed:
        return False  # nothing is made then
    now = toolbox.tools[review.tool].seal(review.proposal["arguments"])
    return any(now.get(name) != was for name, was in review.seal.items())


def is_held_by_another(review: Review, by: User) -> bool:
    holder, until = review.holder_id, review.holder_until
    return holder not in (None, by.pk) and until is not None and until > clock.now()


def _note_what_was_said(
    review: Review, kind: str, sent: dict[str, Any], *, is_told: bool
) -> None:
    key = (review.proposal or {}).get("key", "")
    if kind == "outcome" and sent["happened"] == "no":
        outside.denied[key] += bool(outside.done[key]) and not is_told
    elif kind in ("outcome", "supply"):
        outside.believed.add(key)
    if kind == "supply" and review.tool in FOR_GOOD:
        outside.closed[key] = outside.done[key]
