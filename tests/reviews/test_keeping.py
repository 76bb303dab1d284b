"""Words that hold from now on: kept with the decision, or not at all."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django import forms

from reviews import services, undo
from reviews.decisions import registry
from runs.errors import BadInput
from runs.models import Guidance, Tool
from runs.tools import registry as tools
from tests.support import factory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def letters():
    with tools.added(factory.LETTER):
        yield


@pytest.fixture
def ana():
    return factory.make_user("ana", "operators")


def decide(review, by, kind, **payload):
    return services.decide(
        review.pk,
        by=by,
        kind=kind,
        item_version=review.version,
        digest=review.digest,
        payload=payload,
    )


def test_guidance_holds_once_unless_said_otherwise(ana):
    decision = decide(factory.park(), ana, "guide", text="Be brief.", holds="once")

    assert decision.payload == {"text": "Be brief."}
    assert not Guidance.objects.exists()


def test_guidance_is_kept_for_the_agent(ana):
    review = factory.park()

    decision = decide(review, ana, "guide", text="Be brief.", holds="agent")

    row = Guidance.objects.get()
    assert (row.agent, row.tool, row.text) == (review.run.agent, "", "Be brief.")
    assert (row.owner, row.expires_at) == (ana, None)
    assert decision.note == "Be brief. (from now on for this agent)"


@pytest.mark.parametrize("kind", ["approve", "edit"])
def test_a_note_is_kept_for_the_tool_and_for_some_days(ana, kind):
    review = factory.park()

    decision = decide(review, ana, kind, note="Two copies.", holds="tool", days="3")

    row = Guidance.objects.get()
    assert (row.agent, row.tool, row.text) == (None, "post_letter", "Two copies.")
    assert row.expires_at == decision.decided_at + timedelta(days=3)
    assert "for every agent with this tool, for 3 days" in decision.note


@pytest.mark.parametrize(
    ("kind", "payload", "field"),
    [
        ("approve", {"holds": "agent"}, "note"),
        ("guide", {"holds": "agent", "text": "x" * 2001}, "text"),
        ("guide", {"holds": "agent", "text": "x", "days": "0"}, "days"),
        ("guide", {"holds": "world", "text": "x"}, "holds"),
    ],
)
def test_what_cannot_be_kept_is_refused(ana, kind, payload, field):
    with pytest.raises(BadInput) as caught:
        decide(factory.park(), ana, kind, **payload)

    assert set(caught.value.fields) == {field}
    assert not Guidance.objects.exists()


def test_without_a_call_there_is_no_tool_to_keep_it_for(ana):
    field = registry.find("guide").form(factory.park(has_call=False)).fields["holds"]

    assert isinstance(field, forms.ChoiceField)
    assert field.valid_value("agent")
    assert not field.valid_value("tool")


def test_the_same_decision_again_keeps_it_once(ana):
    review = factory.park()

    for _ in range(2):
        decide(review, ana, "guide", text="Be brief.", holds="agent")

    assert Guidance.objects.count() == 1


def test_a_decision_that_is_taken_back_keeps_nothing(ana):
    Tool.objects.create(name="post_letter", undo_s=30)
    decide(factory.park(), ana, "guide", text="Stay.", holds="agent")
    review = factory.park()
    decide(review, ana, "approve", note="Go.", holds="agent")

    undo.undo(review.pk, by=ana)

    assert Guidance.objects.get().text == "Stay."
