"""The rule of docs/decisions.md, row by row."""

from __future__ import annotations

import pytest

from reviews import risk
from runs.states import ParkReason

A_CALL = {"effect": "irreversible", "arguments": {"to": "ana@example.com"}}
WIDE = {"to": [f"person{number}@example.com" for number in range(6)]}


@pytest.mark.parametrize(
    ("reason", "effect", "level"),
    [
        # no call: nothing is done by deciding
        (ParkReason.QUESTION, None, "low"),
        (ParkReason.BUDGET, None, "low"),
        # something broke, or the agent itself is worried
        (ParkReason.FATAL, None, "medium"),
        (ParkReason.ESCALATION, None, "medium"),
        # a call, by its effect
        (ParkReason.ALWAYS_ASK, "read", "low"),
        (ParkReason.ALWAYS_ASK, "idempotent", "medium"),
        (ParkReason.LOW_CONFIDENCE, "irreversible", "medium"),
        # an irreversible call with a doubt about where it comes from
        (ParkReason.UNTRUSTED_CONTENT, "irreversible", "high"),
        (ParkReason.REPEATED_CALL, "irreversible", "high"),
        (ParkReason.OUTCOME_UNKNOWN, "irreversible", "high"),
        (ParkReason.OUTCOME_UNKNOWN, None, "high"),
    ],
)
def test_risk_comes_from_reason_and_effect(reason, effect, level):
    call = A_CALL | {"effect": effect} if effect else None

    assert risk.of({"reason": reason.value, "call": call}) == level


def test_a_wide_reach_makes_an_irreversible_call_high():
    call = {"effect": "irreversible", "arguments": WIDE}

    assert risk.of({"reason": "low_confidence", "call": call}) == "high"


def test_an_address_counts_once():
    arguments = {"to": ["ana@example.com", "ANA@example.com"], "cc": "ben@example.com"}

    assert risk.reach(arguments) == 2
