"""What binds a decision to what its maker saw: the item's version and its digest."""

from __future__ import annotations

from reviews.decisions.base import DecisionKind
from reviews.models import Review


def broken(review: Review, kind: DecisionKind, item_version: int, digest: str) -> str:
    """Why a decision on that version and digest does not fit the review, or "".

    The version always has to match. The digest has to where a call may be made because
    of the decision, and where one is given.
    """
    if item_version != review.version:
        return (
            f"This has changed since you opened it: it was version {item_version}"
            f" and is now version {review.version}. Look at it again."
        )
    if digest != review.digest and (digest or kind.makes_call):
        return "The call is not the one you were shown. Look at it again."
    return ""
