"""For every reason it is said what would have let the run go on by itself."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from reviews.models import Review
from reviews.passing import Case, amount, did_pass, least_limit, would_have_passed
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db

LOW = {"confidence": "0.62", "threshold": "0.8"}
SURE = {"confidence": "0.91", "threshold": "0.8"}
RULE = {"rules": ["a month grows more than 30 %"]}
MONEY = {"used": "$0.4900", "limit": "$0.5000", "needed": "$0.0250"}

TELLING: dict[ParkReason, tuple[dict[str, Any], str]] = {
    ParkReason.LOW_CONFIDENCE: (LOW, "At 80 % it would have gone by itself."),
    ParkReason.REVIEW_RULE: (SURE | RULE, "No confidence, while that rule applies"),
    ParkReason.ALWAYS_ASK: ({}, "asks a person each time"),
    ParkReason.UNTRUSTED_CONTENT: ({}, "before anything untrusted was read"),
    ParkReason.REPEATED_CALL: ({}, "Other arguments"),
    ParkReason.RESTORED: ({}, "what happened since is in no row"),
    ParkReason.CHECK_FAILED: ({}, "at 80 % or more"),
    ParkReason.CHANGED: ({"changed": ["policy"]}, "as they were when"),
    ParkReason.QUESTION: ({}, "waits for the answer"),
    ParkReason.ESCALATION: ({}, "waits for them"),
    ParkReason.ANSWER: (LOW, "At 80 %"),
    ParkReason.BUDGET: (MONEY, "A limit of $0.5150 or more."),
    ParkReason.INVALID_CALLS: ({"invalid_turns": 3, "allowed": 3}, "among 3"),
    ParkReason.NO_PROGRESS: ({"repeats": 4, "allowed": 3}, "3 equal ones"),
    ParkReason.OPEN_PLAN: ({"open_items": [2, 4]}, "items 2, 4 done"),
    ParkReason.RETRIES: ({"attempts": 5}, "among the 5 tries"),
    ParkReason.FATAL: ({"attempts": 1}, "without this error"),
    ParkReason.REFUSED: ({"attempts": 1}, "takes the task on"),
    ParkReason.CONTEXT: ({"attempts": 1}, "tokens or less"),
    ParkReason.OUTCOME_UNKNOWN: ({"attempts": 1}, "never done a second time"),
    ParkReason.POISON: ({"claims": 3}, "One step that is recorded"),
}


def passed(reason: ParkReason, **fields: Any) -> str:
    return would_have_passed(Case.of(factory.park(reason=reason, **fields)))


@pytest.mark.parametrize("reason", list(ParkReason))
def test_every_reason_says_what_would_have_passed(reason):
    figures, words = TELLING[reason]

    assert words.lower() in passed(reason, figures=figures).lower()


@pytest.mark.parametrize("has_call", [True, False])
@pytest.mark.parametrize("reason", list(ParkReason))
def test_it_is_said_where_no_figures_were_kept(reason, has_call):
    assert passed(reason, has_call=has_call, figures={})


def test_a_rule_stands_above_any_confidence_and_both_are_said():
    words = passed(ParkReason.LOW_CONFIDENCE, figures=LOW | RULE)

    assert words == "No confidence, while that rule applies. Else 80 % would have."


@pytest.mark.parametrize(
    ("grant", "threshold", "words"),
    [
        ({"threshold": 0.8}, "0.8", "the grant of post_letter"),
        ({"threshold": 0.8}, "0.95", "an admin's threshold of post_letter"),
        ({}, "0.75", "the agent"),
        ({}, "0.9", "an admin's threshold of post_letter"),
    ],
)
def test_a_threshold_is_told_with_whose_it_is(grant, threshold, words):
    grants = {"post_letter": {"policy": "ask_below"} | grant}
    agent = factory.make_agent(grants=grants, threshold="0.75")
    figures = LOW | {"threshold": threshold}

    case = Case.of(factory.park(factory.make_run(agent), figures=figures))

    assert case.needed_by == words


def test_a_grant_that_always_asks_is_told_from_an_admins_setting():
    agent = factory.make_agent(grants={"post_letter": {"policy": "always"}})

    by_grant = factory.park(factory.make_run(agent), ParkReason.ALWAYS_ASK)

    assert "by the agent's grant" in would_have_passed(Case.of(by_grant))
    assert "by an admin's setting" in passed(ParkReason.ALWAYS_ASK)


@pytest.mark.parametrize(
    ("text", "number"),
    [("$1,200.5000", "1200.5"), ("12.5 s", "12.5"), ("3", "3"), ("many", None)],
)
def test_a_figure_of_a_budget_is_read_back(text, number):
    found = amount(text)

    assert (None if found is None else str(found.normalize())) == number


def test_the_least_limit_is_written_as_the_figures_are():
    assert least_limit({"used": "3", "needed": "1"}) == "4"
    assert least_limit({"used": "59.9 s", "needed": "0.1 s"}) == "60.0 s"
    assert least_limit({"used": "199,000", "needed": "2,000"}) == "201,000"
    assert least_limit({}) == ""


def test_a_model_without_a_price_needs_one():
    figures = {"budget": "money", "model": "new-model"}

    assert "A price for new-model" in passed(ParkReason.BUDGET, figures=figures)


def test_what_went_ahead_is_told_with_why_it_did():
    review = factory.park(figures={"confidence": "0.82"})
    Review.objects.filter(pk=review.pk).update(proposal={})
    review.refresh_from_db()

    assert did_pass(Case.of(review), Decimal("0.85")) == (
        "82 % sure, 80 % needed by the grant of post_letter, no rule applied."
        " What is below 85 % is looked at afterwards."
    )
