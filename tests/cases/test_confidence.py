"""Rows C: a check that is odd lets nothing through."""

from __future__ import annotations

import json

import pytest

from runs.models import Step
from runs.values import VerdictKind
from tests.flows.conftest import decide
from tests.support.acts import acts
from tests.support.advance import park_of, provider, settle
from tests.support.replies import calls, check, completion, text

pytestmark = pytest.mark.django_db

LETTER = calls(("post", {"what": "x"}))
SAID = {
    "will_do": "Post it.",
    "confidence": 0.95,
    "rationale": "It fits.",
    "reversible": False,
    "side_effects": [],
    "rules_that_apply": [],
}


def test_c01_a_fence_around_the_answer_is_taken_off(run):
    fenced = text(f"```json\n{json.dumps(SAID)}\n```")

    with provider(LETTER, fenced, text("Done.")):
        run = settle(run)

    assert run.state == "completed"
    assert len(acts()) == 1


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure! {json.dumps(SAID)}",
        "I am confident.",
        json.dumps({k: v for k, v in SAID.items() if k != "rationale"}),
        json.dumps(SAID | {"confidence": "0.95"}),
        json.dumps(SAID | {"confidence": 1.5}),
        json.dumps(SAID | {"confidence": -1}),
        json.dumps(SAID).replace("0.95", "NaN"),
        json.dumps(SAID | {"rules_that_apply": [9]}),
        "[]",
    ],
)
def test_c01_an_odd_answer_is_a_failed_check_and_asks(run, answer):
    with provider(LETTER, text(answer)):
        run = settle(run)

    assert (run.state, run.park_reason) == ("awaiting_human", "check_failed")
    assert acts() == []


@pytest.mark.parametrize(
    ("message", "finish"),
    [
        ({"content": None, "refusal": "No."}, "stop"),
        ({"content": None}, "stop"),
        ({"content": json.dumps(SAID)}, "length"),
        ({"content": ""}, "content_filter"),
    ],
)
def test_c03_no_answer_is_a_failed_check_with_its_reason(run, boss, message, finish):
    nothing = completion({"role": "assistant", **message}, finish=finish)

    with provider(LETTER, nothing, check(0.9), text("Done.")):
        run = settle(run)
        parked = (run.park_reason, park_of(run)["question"])
        decide(run, boss, VerdictKind.RETRY)
        run = settle(run)

    assert parked[0] == "check_failed"
    assert len(parked[1]) > len("The check before it failed: ")
    assert (run.state, len(acts())) == ("completed", 1)


def test_c05_a_check_counts_for_exactly_its_arguments(run):
    other = calls(("post", {"what": "y"}))

    with provider(LETTER, check(0.9), other, check(0.2)):
        run = settle(run)

    assert run.park_reason == "low_confidence"
    assert [act["what"] for act in acts()] == ["x"]
    assert Step.objects.filter(kind="check").count() == 2


def test_c05_a_person_who_changes_the_arguments_has_approved_those(run, boss):
    with provider(LETTER, check(0.2), text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE, arguments={"what": "y"})
        run = settle(run)

    assert [act["what"] for act in acts()] == ["y"]
    assert Step.objects.filter(kind="check").count() == 1
