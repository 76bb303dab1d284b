"""Reasons, results supplied by hand, and changed plans: what their forms take."""

from __future__ import annotations

import pytest

from reviews.decisions import registry
from reviews.decisions.plan import PlanForm
from runs.errors import BadInput
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db

# Reject and abort


def test_a_preset_is_kept_by_its_key_and_read_in_full():
    entered = {"preset": "target", "text": "Ask Ben first."}

    cleaned = registry.find("reject").clean(factory.park(), entered)

    assert cleaned == {
        "preset": "target",
        "text": "It goes to the wrong person or place. Ask Ben first.",
    }


@pytest.mark.parametrize(
    ("entered", "cleaned"),
    [
        ({"text": "Not yet."}, {"preset": "other", "text": "Not yet."}),
        (
            {"preset": "timing"},
            {"preset": "timing", "text": "It is not the time for it."},
        ),
    ],
)
def test_one_of_preset_and_words_is_enough(entered, cleaned):
    assert registry.find("reject").clean(factory.park(), entered) == cleaned


@pytest.mark.parametrize("kind", ["reject", "abort"])
@pytest.mark.parametrize("entered", [{}, {"text": " "}, {"preset": "other"}])
def test_turning_down_needs_a_reason(kind, entered):
    with pytest.raises(BadInput) as caught:
        registry.find(kind).clean(factory.park(), entered)
    assert set(caught.value.fields) == {"text"}


@pytest.mark.parametrize("kind", ["reject", "abort"])
def test_a_reason_nobody_offered_is_refused(kind):
    with pytest.raises(BadInput) as caught:
        registry.find(kind).clean(factory.park(), {"preset": "whim", "text": "No."})
    assert set(caught.value.fields) == {"preset"}


# Supply


@pytest.mark.parametrize(
    ("entered", "result"),
    [
        ({"result": "Sent."}, "Sent."),
        ({"type": "text", "result": "[1]"}, "[1]"),
        ({"type": "json", "result": '{"id": 7}'}, {"id": 7}),
    ],
)
def test_a_supplied_result_is_what_its_type_says(entered, result):
    supply, review = registry.find("supply"), factory.park()

    verdict = supply.to_verdict(review, supply.clean(review, entered))
    assert verdict is not None
    assert verdict.result == result


@pytest.mark.parametrize("result", ["{odd", "NaN", " "])
def test_a_supplied_result_that_is_none_is_refused(result):
    with pytest.raises(BadInput) as caught:
        registry.find("supply").clean(
            factory.park(), {"type": "json", "result": result}
        )
    assert set(caught.value.fields) == {"result"}


def test_only_a_call_can_be_done_by_hand():
    supply = registry.find("supply")

    assert supply.offered(factory.park(reason=ParkReason.RETRIES))
    assert not supply.offered(factory.park(reason=ParkReason.RETRIES, has_call=False))
    assert not supply.offered(factory.park(reason=ParkReason.QUESTION))


# Plan

PLAN = [
    {"text": "Compute", "status": "done", "reason": ""},
    {"text": "Check", "status": "open", "reason": ""},
    {"text": "Ask", "status": "dropped", "reason": "no need"},
    {"text": "Send", "status": "open", "reason": ""},
]


def planned(reason=ParkReason.LOW_CONFIDENCE, plan=PLAN):
    return factory.park(factory.make_run(plan=plan), reason)


def test_the_form_shows_what_is_left_and_what_is_finished():
    form = registry.find("plan").form(planned())

    assert form["items"].value() == "Check\nSend"
    assert isinstance(form, PlanForm)
    assert [item["text"] for item in form.finished] == ["Compute", "Ask"]


def test_a_changed_plan_keeps_what_is_finished():
    entered = {"items": "Send it \r\n\r\n Tell Ana", "text": "No check."}

    cleaned = registry.find("plan").clean(planned(), entered)

    assert [(item["text"], item["status"]) for item in cleaned["plan"]] == [
        ("Compute", "done"),
        ("Ask", "dropped"),
        ("Send it", "open"),
        ("Tell Ana", "open"),
    ]


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ("Check\nSend", "Nothing has changed yet."),
        ("x" * 501, "Line 1 has 501 characters, at most 500 go."),
        ("a\n" * 49, "A plan has at most 50 items; these are 51."),
    ],
)
def test_what_is_no_new_plan_is_refused(items, problem):
    with pytest.raises(BadInput) as caught:
        registry.find("plan").clean(planned(), {"items": items})
    assert caught.value.fields == {"items": problem}


def test_a_form_without_the_items_leaves_the_plan_alone():
    with pytest.raises(BadInput) as caught:
        registry.find("plan").clean(planned(), {})
    assert caught.value.fields == {"items": "Nothing has changed yet."}


def test_a_plan_needs_an_item():
    review = planned(plan=[PLAN[1]])

    with pytest.raises(BadInput) as caught:
        registry.find("plan").clean(review, {"items": ""})
    assert caught.value.fields == {"items": "A plan needs at least one item."}


@pytest.mark.parametrize(
    ("reason", "plan", "is_offered"),
    [
        (ParkReason.LOW_CONFIDENCE, PLAN, True),
        (ParkReason.OPEN_PLAN, PLAN, True),
        (ParkReason.LOW_CONFIDENCE, [], False),
        (ParkReason.QUESTION, PLAN, False),
    ],
)
def test_a_plan_is_edited_where_there_is_one(reason, plan, is_offered):
    assert registry.find("plan").offered(planned(reason, plan)) is is_offered
