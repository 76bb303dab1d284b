"""The rule of docs/decisions.md, row by row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reviews import ranking
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

    assert ranking.of({"reason": reason.value, "call": call}).risk == level


def test_a_wide_reach_makes_an_irreversible_call_high():
    call = {"effect": "irreversible", "arguments": WIDE}

    assert ranking.of({"reason": "low_confidence", "call": call}).risk == "high"


def test_an_address_counts_once():
    arguments = {"to": ["ana@example.com", "ANA@example.com"], "cc": "ben@example.com"}

    assert ranking.reach(arguments) == 2


@pytest.mark.parametrize(
    ("confidence", "points"), [("0.62", 2), ("0.55", 3), ("0.1", 3), (None, 2)]
)
def test_a_wide_gap_of_confidence_counts(confidence, points):
    figures = {"threshold": "0.8", "confidence": confidence}
    park = {"reason": "low_confidence", "call": A_CALL, "figures": figures}

    assert ranking.of(park).points == points


def test_what_weighs_is_kept_in_words():
    park = {"reason": "untrusted_content", "call": A_CALL | {"arguments": WIDE}}

    assert ranking.of(park).as_json() == [
        {"label": "The call cannot be undone", "points": 2},
        {"label": "It follows untrusted content", "points": 1},
        {"label": "It reaches 6 e-mail addresses", "points": 1},
    ]


def test_weight_divides_the_window():
    opened_at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    due_at = opened_at + timedelta(hours=4)

    assert ranking.weighed(opened_at, due_at, 0) == due_at
    assert ranking.weighed(opened_at, due_at, 3) == opened_at + timedelta(hours=1)


def test_what_waited_long_stands_above_what_is_grave_and_new():
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    window, long_after = timedelta(hours=4), noon + timedelta(hours=3, minutes=30)

    old = ranking.weighed(noon, noon + window, 0)
    grave = ranking.weighed(long_after, long_after + window, 5)

    assert old < grave
