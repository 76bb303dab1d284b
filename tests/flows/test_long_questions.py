"""What an agent asks may be long, and may be written to be shown as something else."""

from __future__ import annotations

import pytest

from runs.errors import InvalidCall
from runs.tools.ask_human import ask_human, escalate
from runs.tools.update_plan import update_plan
from tests.support.advance import park_of, provider, settle
from tests.support.replies import calls, text

pytestmark = pytest.mark.django_db

NASTY = "<script>\x00\ud800\r\n\u202e</script>" * 90


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ask_human", {"question": NASTY, "options": ["\x00<b>" * 40] * 20}),
        ("escalate", {"reason": NASTY}),
    ],
)
def test_a_nasty_question_parks_and_is_stored(run, name, arguments):
    with provider(calls((name, arguments))):
        run = settle(run)

    park = park_of(run)
    asked = str(park)
    assert (run.state, park["reason"] in {"question", "escalation"}) == (
        "awaiting_human",
        True,
    )
    assert "\x00" not in asked
    assert "\ud800" not in asked
    assert len(run.reviews.get().title) <= 300


@pytest.mark.parametrize(
    "question", ["", "x" * 4_001, "x" * 1_000_000, None, ["x"], {"a": 1}]
)
def test_a_question_that_is_none_or_too_long_is_told_to_the_model(run, question):
    said = calls(("ask_human", {"question": question}))
    with provider(said, text("Done.")) as model:
        run = settle(run)

    assert run.state == "completed"
    assert "The arguments of ask_human" in model.requests[1].tool_results[0]
    assert len(model.requests[1].tool_results[0]) < 1_000


TOO_MUCH = [
    (ask_human, {"question": "Go?", "options": ["yes"] * 21}),
    (ask_human, {"question": "Go?", "options": ["x" * 201]}),
    (ask_human, {"question": "Go?", "options": [""]}),
    (escalate, {"reason": "x" * 4_001}),
    (update_plan, {"items": [{"text": "x"}] * 51, "reason": "r"}),
    (update_plan, {"items": [{"text": "x" * 501}], "reason": "r"}),
    (update_plan, {"items": [{"text": "x"}], "reason": "r" * 501}),
    (update_plan, {"items": [{"text": "x", "more": 1}], "reason": "r"}),
]


@pytest.mark.parametrize(("spec", "arguments"), TOO_MUCH)
def test_more_than_a_person_reads_is_refused(spec, arguments):
    with pytest.raises(InvalidCall):
        spec.validate(arguments)
