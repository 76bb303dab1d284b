"""Cases M29 to M38: odd values, huge ones, and the same again and again."""

from __future__ import annotations

import json

import pytest

from runs.conversation import SAME_AGAIN
from runs.services import start
from tests.cases.conftest import case_agent
from tests.cases.playing import DONE, echoed, entry, play
from tests.support.replies import call, calls, completion, text

pytestmark = pytest.mark.django_db


def test_m29_nesting_without_end_is_fed_back_and_cut(run):
    nested = '{"text": ' + "[" * 3000 + "]" * 3000 + "}"
    script = [calls(call("echo", nested)), calls(("odd", {"kind": "deep"})), DONE]

    run, model = play(run, *script)

    assert "nested" in model.requests[1].tool_results[0]
    assert "nested too deep" in model.requests[2].tool_results[1]
    assert run.state == "completed"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_m30_numbers_that_are_none_are_refused_in_arguments(run, number):
    run, model = play(run, calls(call("echo", f'{{"text": {number}}}')), DONE)

    assert "not valid JSON" in model.requests[1].tool_results[0]
    assert run.state == "completed"


def test_m30_a_number_that_is_none_in_an_object_is_refused_too(run):
    unfit = entry("odd", arguments={"kind": [float("nan")]})

    run, model = play(run, calls(unfit), DONE)

    assert "NaN is not JSON" in model.requests[1].tool_results[0]
    assert run.state == "completed"


@pytest.mark.parametrize("kind", ["nan", "digits"])
def test_m30_results_that_are_no_numbers_are_stored(run, kind):
    run, model = play(run, calls(("odd", {"kind": kind})), DONE)

    assert run.state == "completed"
    assert {"nan": "null", "digits": "too many digits"}[kind] in (
        model.requests[1].tool_results[0]
    )


def test_m31_what_no_database_stores_is_replaced_everywhere(run):
    arguments = '{"text": "a\\u0000b\\ud800"}'
    first = calls(
        call("echo", arguments), ("odd", {"kind": "nul"}), text="c\x00d \ud800"
    )

    run, model = play(run, first, text("e\x00f"))

    assert run.output == "e␀f"
    assert echoed(model.requests[1].tool_results[0]) == "a␀b\ufffd"
    assert model.requests[1].tool_results[1] == "a␀b \ufffd"
    assert run.steps.get(number=1).response["content"] == "c␀d \ufffd"


def test_m34_a_huge_argument_is_not_sent_back(run):
    run, model = play(run, calls(call("echo", "{" + "x" * 1_000_000)), DONE)

    assert len(json.dumps(model.bodies[1])) < 20_000
    assert run.state == "completed"


def test_m34_a_huge_result_is_cut_for_the_model(run):
    run, model = play(run, calls(("odd", {"kind": "long"})), DONE)

    assert len(model.requests[1].tool_results[0]) <= 16_000
    assert len(str(run.steps.get(name="odd").response["result"])) <= 1_000_000


def test_m34_a_huge_answer_ends_the_run(run):
    run, _ = play(run, text("y" * 1_000_000))

    assert (run.state, len(run.output)) == ("completed", 1_000_000)


def test_m35_the_same_call_for_ever_parks_and_never_completes(run):
    run, model = play(run, then=calls(("echo", {"text": "x"})))

    warnings = [m for m in model.requests[-1].messages if m["content"] == SAME_AGAIN]
    assert (run.state, run.park_reason) == ("awaiting_human", "no_progress")
    assert (len(model.requests), len(warnings)) == (4, 1)
    assert model.requests[-1].messages[-1] == warnings[0]


def test_m35_the_same_call_many_times_in_one_turn_counts_once(run):
    run, model = play(run, calls(*[("echo", {"text": "x"})] * 9), DONE)

    assert (run.state, run.steps_used) == ("completed", 11)
    assert SAME_AGAIN not in str(model.bodies)


def test_m35_taking_turns_between_two_calls_is_no_progress_either(run):
    script = [calls(("echo", {"text": text})) for text in "abababab"]

    run, model = play(run, *script)

    assert (run.park_reason, len(model.requests)) == ("no_progress", 7)


def test_m35_the_step_budget_holds_all_the_same(boss):
    run = start(agent=case_agent(limits={"steps": 4}), by=boss, task="Work")

    run, _ = play(run, then=calls(("echo", {"text": "x"})))

    assert (run.park_reason, run.steps_used) == ("budget", 4)


@pytest.mark.parametrize(
    ("odd_entry", "told"),
    [
        ({"id": "c9", "type": "function"}, "no function"),
        ({"id": "c9", "type": "custom", "custom": {"name": "x"}}, "type 'custom'"),
    ],
)
def test_m37_an_entry_that_is_no_call_is_fed_back_under_its_id(run, odd_entry, told):
    run, model = play(run, calls(odd_entry, ("echo", {"text": "b"})), DONE)

    assert told in model.requests[1].tool_results[0]
    assert echoed(model.requests[1].tool_results[1]) == "b"


@pytest.mark.parametrize("odd_entry", [None, 7, {"type": "function"}])
def test_m37_an_entry_without_an_id_is_noted(run, odd_entry):
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [odd_entry, call("echo", {"text": "b"})],
    }

    run, model = play(run, completion(message), DONE)

    assert "was ignored" in model.requests[1].messages[-1]["content"]
    assert run.state == "completed"


def test_m37_parts_are_joined_to_text(run):
    parts = [{"type": "text", "text": "Do"}, "ne", {"type": "text", "text": "."}, None]

    run, _ = play(run, completion({"role": "assistant", "content": parts}))

    assert run.output == "Done."


def test_m38_text_beside_a_call_is_kept(run):
    script = [calls(("echo", {"text": "x"}), text="I will look."), DONE]

    run, model = play(run, *script)

    assert model.requests[1].messages[-2]["content"] == "I will look."
    assert run.steps.get(number=1).response["content"] == "I will look."
