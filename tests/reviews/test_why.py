"""Why a run is parked is told with its figures, and what would happen, whole."""

from __future__ import annotations

from typing import Any

import pytest

from reviews import why
from reviews.models.review import ReviewKind
from runs.states import ParkReason, StepKind
from tests.support import factory

pytestmark = pytest.mark.django_db

CHECK = {
    "confidence": "0.62",
    "threshold": "0.8",
    "rules": ["a month grows more than 30 %"],
    "rationale": "It may be right.",
    "side_effects": ["Mail goes out"],
}


def told(reason: ParkReason = ParkReason.LOW_CONFIDENCE, **fields: Any) -> why.Why:
    review = factory.park(reason=reason, **fields)
    return why.why(review, list(review.run.steps.all()))


def points(shown: why.Why) -> dict[str, str]:
    return {point.name: point.text for point in shown.points}


def test_a_check_is_a_gauge_and_says_what_would_have_passed():
    shown = told(figures=CHECK)

    assert shown.gauge is not None
    assert (shown.gauge.stated_words, shown.gauge.needed_words) == ("62 %", "80 %")
    assert shown.in_words == (
        "The check is 62 % sure, the grant of post_letter needs 80 %."
    )
    assert points(shown)["Rule"] == "“a month grows more than 30 %”: applies"
    assert points(shown)["It says"] == "“It may be right.”"
    assert points(shown)["Side effects"] == "Mail goes out"
    assert [point.step for point in shown.points if point.step] == [2]


def test_a_budget_tells_its_figures_and_is_a_bar():
    figures = {
        "budget": "money",
        "used": "$0.49",
        "limit": "$0.50",
        "needed": "$0.02",
        "forecast": "$0.10",
    }

    shown = told(ParkReason.BUDGET, has_call=False, figures=figures)

    assert points(shown) == {
        "Used": "$0.49 of $0.50",
        "Reserved": "at most $0.02 for the next call",
        "To the end": "about $0.10 more",
    }
    assert shown.burn is not None
    assert shown.passed == "A limit of $0.51 or more."


def test_the_last_error_is_told_with_its_class_in_words():
    error = {"class": "transient", "text": "503: try later"}

    shown = told(ParkReason.RETRIES, error=error, figures={"attempts": 4})

    assert points(shown)["Last error"] == "503: try later (failed for now)"
    assert points(shown)["Tries"] == "4 of 4"


def test_untrusted_content_points_at_the_step_that_read_it():
    run = factory.make_run()
    read = {"result": "a page", "text": "a page", "untrusted": True}
    factory.add_step(run, StepKind.TOOL, name="http_request", response=read)

    review = factory.park(run, ParkReason.UNTRUSTED_CONTENT, figures={})
    shown = why.why(review, list(run.steps.all()))

    assert [(p.name, p.text, p.step) for p in shown.points] == [
        ("Read by", "HTTP request", 1)
    ]


def test_what_is_judged_afterwards_says_why_it_passed():
    review = factory.park(figures={"confidence": "0.82"})
    review.kind = ReviewKind.AFTERWARDS.value

    shown = why.why(review)

    assert shown.did_pass
    assert "What is below 85 % is looked at afterwards." in shown.passed


def test_what_changed_is_said_in_words():
    figures = {"changed": ["policy", "settings"]}

    shown = told(ParkReason.CHANGED, figures=figures)

    assert points(shown)["Changed"] == (
        "the policy of the tool, the settings of the tool"
    )
