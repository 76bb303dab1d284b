"""What a person answers to a parked run who first looks what really happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runs.states import ParkReason

_ABOUT_A_CALL = {
    ParkReason.LOW_CONFIDENCE,
    ParkReason.UNTRUSTED_CONTENT,
    ParkReason.ALWAYS_ASK,
    ParkReason.CHANGED,
    ParkReason.RESTORED,
}


def answer(
    park: dict[str, Any], has_happened: Callable[[str], bool]
) -> tuple[str, dict[str, Any]]:
    """The kind of decision, and what a browser would send with it.

    `has_happened` tells of an idempotency key whether the call took effect.
    """
    reason = ParkReason(park["reason"])
    if reason is ParkReason.QUESTION:
        return "answer", {"text": "Yes."}
    if reason in _ABOUT_A_CALL:
        return "approve", {"note": "Go on."}
    if reason is ParkReason.POISON:
        return "retry", {}
    if reason is ParkReason.OUTCOME_UNKNOWN:
        done = has_happened(park["call"]["key"])
        return "outcome", {"happened": "yes" if done else "no"}
    raise AssertionError(f"nobody expected this: {park}")
