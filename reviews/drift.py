"""What has changed about an item since somebody looked at it or approved it, in words.

An item's `detail` keeps the `terms` under which its call would run, and a list of
`changes`, one for each version it got: {"version", "at", "by", "what", "differences"}.
A difference is {"name", "was", "now"}, all of it text; `is_time` marks moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from agentops import clock
from agentops.conf import product
from reviews.models import Decision, Review
from reviews.models.review import ReviewStatus
from reviews.rights import may_decide
from runs.canonical import Json, dumps, shorten
from runs.gates import percent

MOST_CHANGES = 20
LONGEST = 200
NOT_SET = "not there"
POLICIES = {
    "auto": "runs by itself",
    "ask_below": "asks below the threshold",
    "always": "always asks",
    "blocked": "blocked",
}

Difference = dict[str, Any]


def differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[Difference]:
    """Between two sets of `terms`; nothing where one of them is not known. Pure."""
    if not was or not now:
        return []
    return [
        *_named("Policy", POLICIES.get(was["policy"]), POLICIES.get(now["policy"])),
        *_named("Threshold", _share(was["threshold"]), _share(now["threshold"])),
        *_named("Its results", _trust(was["untrusted"]), _trust(now["untrusted"])),
        *_entries("Setting", was["settings"], now["settings"]),
        *_entries("Argument", _parameters(was), _parameters(now)),
    ]


def _named(name: str, was: object, now: object) -> Iterator[Difference]:
    if was != now:
        yield {"name": name, "was": _said(was), "now": _said(now)}


def _entries(
    name: str, was: Mapping[str, Json], now: Mapping[str, Json]
) -> Iterator[Difference]:
    for key in sorted({*was, *now}):
        yield from _named(f"{name} {key}", was.get(key), now.get(key))


def _parameters(terms: Mapping[str, Any]) -> dict[str, Json]:
    """Each argument in words: its type, whether it has to be given, and its bounds."""
    required = set(terms["required"])
    return {
        name: f"{_shape(shape)}, {'required' if name in required else 'optional'}"
        for name, shape in terms["parameters"].items()
    }


def _shape(shape: Mapping[str, Any]) -> str:
    rest = {k: v for k, v in shape.items() if k not in {"type", "title", "description"}}
    more = f" {dumps(rest)}" if rest else ""
    return f"{shape.get('type', 'any')}{more}"


def _share(number: str) -> str:
    return percent(Decimal(number))


def _trust(is_untrusted: bool) -> str:
    return "untrusted content" if is_untrusted else "trusted"


def _said(value: object) -> str:
    if value is None:
        return NOT_SET
    return shorten(value if isinstance(value, str) else dumps(value), LONGEST)


# ---- rows


def logged(
    review: Review, what: str, by: str, found: list[Difference]
) -> dict[str, Any]:
    """The item's `detail` with one more change, which makes its next version."""
    change = {
        "version": review.version + 1,
        "at": clock.now().isoformat(),
        "by": by,
        "what": what,
        "differences": found,
    }
    changes = [*review.detail.get("changes", []), change]
    detail: dict[str, Any] = review.detail | {"changes": changes[-MOST_CHANGES:]}
    return detail


def moved(name: str, was: datetime | None, now: datetime | None) -> list[Difference]:
    """A moment that is another one now."""
    if was == now:
        return []
    times = {"was": was and was.isoformat(), "now": now and now.isoformat()}
    return [{"name": name, "is_time": True, **times}]


def since(review: Review, version: int) -> list[dict[str, Any]]:
    """The changes after the version that somebody was shown; moments as such."""
    changes = review.detail.get("changes", [])
    return [
        change | {"differences": list(map(_readable, change["differences"]))}
        for change in changes
        if change["version"] > version
    ]


def _readable(one: Difference) -> Difference:
    if not one.get("is_time"):
        return one
    times = {n: one[n] and datetime.fromisoformat(one[n]) for n in ("was", "now")}
    return one | times


def bring_back(review: Review, at: datetime) -> None:
    """A call that changed after its approval goes to who approved it, for a while.

    Inside the transaction that opens the review. Who may not decide any more gets
    nothing; then it is anybody's, as other items are.
    """
    before = Decision.objects.filter(review__run=review.run_id, undone_at=None)
    decision = before.select_related("actor", "review").first()
    if decision is None:
        return
    was, now = decision.review.detail.get("terms", {}), review.detail.get("terms", {})
    review.detail |= {"differences": differences(was, now)}
    fields: dict[str, Any] = {"detail": review.detail}
    if not may_decide(decision.actor, review):
        review.holder = decision.actor
        review.holder_until = clock.later(product().claim_lease_s)
        fields |= {"holder": review.holder, "holder_until": review.holder_until}
    waiting = Review.objects.filter(pk=review.pk, status=ReviewStatus.OPEN.value)
    waiting.update(**fields)
