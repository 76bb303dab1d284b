"""Cases C: a check that is odd lets nothing through."""

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


@pytest.mark.parametrize(
    "around", ["```json\n{}\n```", "```\n{}\n```", " ```JSON\n{}\n``` \n", "\n{}  "]
)
def test_c01_a_fence_around_the_answer_is_taken_off(run, around):
    fenced = text(around.replace("{}", json.dumps(SAID)))

    with provider(LETTER, fenced, text("Done.")):
        run = settle(run)

    assert run.state == "completed"
    assert len(acts()) == 1


ODD_SCORES = ["0.95", 95, 101, -1, 1.0000001, True, None, [0.9], {"is": 0.9}, "high"]
ODD_RULES = [[0], [-1], [1.5], [True], ["1"], "1", None, [10**30]]
MISSING = [{k: v for k, v in SAID.items() if k != name} for name in SAID]
GOOD = json.dumps(SAID)


@pytest.mark.parametrize(
    "answer",
    [
        *(json.dumps(SAID | {"confidence": score}) for score in ODD_SCORES),
        *(json.dumps(SAID | {"rules_that_apply": rules}) for rules in ODD_RULES),
        *map(json.dumps, MISSING),
        GOOD[:-1] + ', "confidence": 0.99}',
        GOOD + GOOD,
        GOOD + "\n" + GOOD,
        f"[{GOOD}]",
        f"```json\n{GOOD}\n```\nThat is my answer.",
        f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```",
        f"<answer>{GOOD}</answer>",
        json.dumps(GOOD),
        json.dumps(SAID | {"will_do": "x" * 3000}),
        json.dumps(SAID | {"side_effects": ["x"] * 51}),
        json.dumps(SAID | {"reversible": "no"}),
        GOOD.replace("0.95", "1e400"),
        GOOD.replace("0.95", "Infinity"),
        GOOD.replace("0.95", "9" * 5000),
        "[" * 5000,
        "null",
        "",
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
    ("message", "finish", "told"),
    [
        ({"content": None, "refusal": "Not I."}, "stop", "Not I."),
        ({"content": None}, "stop", "not answer with JSON"),
        ({"content": json.dumps(SAID)}, "length", "cut off"),
        ({"content": ""}, "content_filter", "filter"),
        (
            {"content": None, "tool_calls": [{"id": "c"}]},
            "stop",
            "not answer with JSON",
        ),
    ],
)
def test_c03_no_answer_is_a_failed_check_with_its_reason(
    run, boss, message, finish, told
):
    nothing = completion({"role": "assistant", **message}, finish=finish)

    with provider(LETTER, nothing, check(0.9), text("Done.")):
        run = settle(run)
        parked = (run.park_reason, park_of(run)["question"])
        decide(run, boss, VerdictKind.RETRY)
        run = settle(run)

    assert parked[0] == "check_failed"
    assert told in parked[1]
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
