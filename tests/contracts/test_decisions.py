"""Every kind of decision is complete, offered where it fits, and keeps its word."""

from __future__ import annotations

import pytest
from django import forms

from agentops import clock
from reviews import afterwards
from reviews.decisions import registry
from reviews.decisions.base import DecisionForm
from reviews.models import Review
from runs.errors import BadInput
from runs.states import ParkReason
from runs.timeline import DECIDED
from runs.tools import registry as tools
from runs.undone import UNDO
from runs.values import VerdictKind
from tests.support import factory

KINDS = registry.all_kinds()
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


def test_a_runs_steps_tell_of_every_kind_in_its_own_words():
    """The list of steps, which knows no kinds, has the words of each verdict."""
    told = {kind.verdict: kind for kind in KINDS if kind.verdict is not None}
    of_its_own = [kind for kind in KINDS if kind.verdict == kind.kind]

    assert set(DECIDED) == {*VerdictKind, UNDO}
    assert set(told) == set(VerdictKind)
    assert {kind.verdict for kind in of_its_own} == set(VerdictKind)
    assert {kind.kind: DECIDED[kind.kind][0] for kind in of_its_own} == {
        kind.kind: kind.done for kind in of_its_own
    }


FIGURES = {
    "budget": "money",
    "used": "$0.49",
    "limit": "$0.50",
    "needed": "$0.02",
    "forecast": "$0.31",
}
PLAN = [
    {"text": "Compute", "status": "done", "reason": ""},
    {"text": "Send", "status": "open", "reason": ""},
]
# Where each kind is offered (None: afterwards), and something right to enter there.
WORKS = {
    "approve": (ParkReason.LOW_CONFIDENCE, {"note": "Fine."}),
    "edit": (ParkReason.LOW_CONFIDENCE, {"arguments": factory.MAIL}),
    "guide": (ParkReason.LOW_CONFIDENCE, {"text": "Use the other list."}),
    "reject": (ParkReason.LOW_CONFIDENCE, {"text": "Not yet."}),
    "abort": (ParkReason.LOW_CONFIDENCE, {"text": "Not needed."}),
    "answer": (ParkReason.QUESTION, {"text": "The second one."}),
    "retry": (ParkReason.RETRIES, {}),
    "outcome": (ParkReason.OUTCOME_UNKNOWN, {"happened": "yes", "result": "Sent."}),
    "top_up": (ParkReason.BUDGET, {"limits.money": "1.00"}),
    "supply": (ParkReason.LOW_CONFIDENCE, {"result": "Sent by hand."}),
    "fork": (ParkReason.LOW_CONFIDENCE, {"step": "1"}),
    "plan": (ParkReason.LOW_CONFIDENCE, {"items": "Send\nReport"}),
    "go_on": (ParkReason.LOW_CONFIDENCE, {}),
    "good": (None, {"text": "As it should be."}),
    "bad": (None, {"text": "The wrong list."}),
}
# Where sending nothing at all would do, something that will not.
WRONG = {
    "approve": {"note": "x" * 20_000},
    "retry": {"text": "x" * 20_000},
    "go_on": {"text": "x" * 20_000},
    "good": {"text": "x" * 20_000},
    "edit": {"arguments": factory.MAIL | {"copies": "many"}},
}


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


def expire(review):
    now = clock.now()
    review.status, review.closed_at, review.expires_at = "expired", now, now
    review.save()


@pytest.fixture
def parked(db):
    """Call it with a kind: a review that this kind is offered on."""

    def make(kind):
        reason, _ = WORKS[kind.kind]
        if reason is None:
            factory.let_through()
            afterwards.open_reviews()
            return Review.objects.get()
        figures = FIGURES if reason is ParkReason.BUDGET else {}
        has_call = reason not in {ParkReason.BUDGET, ParkReason.RETRIES}
        run = factory.make_run(plan=PLAN)
        review = factory.park(run, reason, has_call=has_call, figures=figures)
        if kind.kind == "go_on":
            expire(review)
        return review

    return make


def test_all_kinds_of_the_product_are_there():
    assert {kind.kind for kind in KINDS} == set(WORKS)


def test_no_two_kinds_share_a_key():
    keys = [kind.key for kind in KINDS if kind.key]

    assert len(keys) == len(set(keys))


def test_a_decision_of_a_kind_that_is_gone_can_still_be_read():
    assert registry.done("count_votes") == "Count votes"
    assert registry.tone("count_votes") == "wait"


@every_kind
def test_it_is_complete(kind):
    assert kind.kind.isidentifier()
    assert kind.verdict is None or isinstance(kind.verdict, VerdictKind)
    assert issubclass(kind.form_class, DecisionForm)
    assert len(kind.key) <= 1
    assert kind.done[0].isupper()
    assert kind.tone in {"good", "wait", "bad"}
    assert registry.find(kind.kind) is kind


@every_kind
def test_it_is_offered_where_it_fits(kind, parked):
    review = parked(kind)

    assert kind in registry.offered(review)
    assert kind.label(review)[0].isupper()


@every_kind
def test_its_form_renders_with_ids_of_its_own(kind, parked):
    form = kind.form(parked(kind))

    assert isinstance(form, forms.Form)
    for field in form:
        assert field.auto_id.startswith(f"id_{kind.kind}_")
        assert field.label


@every_kind
def test_what_is_right_becomes_its_verdict(kind, parked):
    review, (_, entered) = parked(kind), WORKS[kind.kind]

    cleaned = kind.clean(review, entered)
    verdict = kind.to_verdict(review, cleaned)

    assert (verdict.kind if verdict else None) is kind.verdict
    assert isinstance(kind.note(cleaned), str)


@every_kind
def test_what_is_wrong_is_told_beside_a_field_that_exists(kind, parked):
    review = parked(kind)

    with pytest.raises(BadInput) as caught:
        kind.to_verdict(review, kind.clean(review, WRONG.get(kind.kind, {})))

    assert set(caught.value.fields) <= {"", *kind.form(review).fields}
    assert all(caught.value.fields.values())


@every_kind
def test_cleaning_twice_gives_the_same(kind, parked):
    review, (_, entered) = parked(kind), WORKS[kind.kind]

    assert kind.clean(review, entered) == kind.clean(review, entered)


def test_no_two_kinds_read_the_same_where_room_is_scarce():
    words = [kind.short or kind.words.split(" ", 1)[0] for kind in KINDS]

    assert len(words) == len(set(words)), words
