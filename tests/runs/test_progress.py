"""What the steps of a run amount to: conversation, open calls, counters."""

from __future__ import annotations

import pytest

from runs.states import StepKind, StepStatus
from tests.support import strict
from tests.support.planning import Steps

CALL = ("echo", '{"text": "x"}')


def roles(steps: Steps) -> list[str]:
    return [message["role"] for message in steps.progress().messages]


def test_notes_come_after_the_last_result_of_a_turn():
    steps = Steps().model(CALL, CALL)
    steps.decision("approve", "c1", note="Mind the gap.").tool("c1")
    before = roles(steps)

    steps.tool("c2")

    assert before == ["system", "user", "assistant", "tool"]
    assert roles(steps) == [*before, "tool", "user"]
    assert steps.progress().messages[-1]["content"].endswith("Mind the gap.")


def test_what_a_person_says_is_said_by_the_user():
    said = Steps().model(CALL).decision("guide", "c1", text="Stop.").progress().messages

    assert [m["role"] for m in said[-2:]] == ["tool", "user"]
    assert said[-1]["content"] == "A person reviewing this run says: Stop."


def test_calls_are_open_until_each_has_its_answer():
    progress = Steps().model(CALL, CALL).tool("c1").progress()

    assert [call.id for call in progress.pending] == ["c2"]
    assert progress.ids == {"c1", "c2"}


def test_an_open_step_changes_nothing():
    steps = Steps().model(CALL)
    before = steps.progress()

    steps.tool("c1", status=StepStatus.STARTED)

    assert steps.progress() == before


@pytest.mark.parametrize("error_class", ["transient", "fatal", "outcome_unknown"])
def test_a_failure_no_model_can_answer_for_leaves_the_call_open(error_class):
    failed = Steps().model(CALL).broken("c1", error_class)

    assert [call.id for call in failed.progress().pending] == ["c1"]


def test_the_same_call_with_the_same_result_is_counted():
    steps = Steps()
    for n in range(1, 4):
        steps.model(CALL).tool(f"c{n}", "same")
    other = Steps().model(CALL).tool("c1", "this").model(CALL).tool("c2", "that")

    assert steps.progress().most_repeats == 3
    assert other.progress().most_repeats == 1


def test_a_turn_counts_as_invalid_only_if_nothing_in_it_succeeded():
    mixed = Steps().model(CALL, CALL)
    mixed.tool("c1", status=StepStatus.FAILED, error_class="invalid").tool("c2")
    bad = (
        Steps().model(CALL).tool("c1", status=StepStatus.FAILED, error_class="invalid")
    )

    assert mixed.progress().invalid_turns == 0
    assert bad.progress().invalid_turns == 1


@pytest.mark.parametrize("kind", ["retry", "top_up"])
def test_after_a_person_has_acted_the_counters_start_again(kind):
    steps = Steps()
    for n in range(1, 4):
        steps.model(CALL).tool(
            f"c{n}",
            status=StepStatus.FAILED,
            error_class="invalid",
        )
    steps.model(content="", nudge="empty", note="Say something.")
    worn = steps.progress()

    fresh = steps.decision(kind).progress()

    assert (worn.invalid_turns, worn.nudges, worn.most_repeats) == (3, 1, 3)
    assert (fresh.invalid_turns, fresh.nudges, fresh.most_repeats) == (0, 0, 0)


@pytest.mark.parametrize(
    ("kind", "stays"),
    [("approve", False), ("guide", False), ("retry", True), ("top_up", True)],
)
def test_untrusted_content_counts_until_a_person_has_looked_at_it(kind, stays):
    steps = Steps().model(CALL).tool("c1", response={"untrusted": True})

    after = steps.decision(kind, text="Go on.").progress()

    assert after.untrusted is stays


def test_an_answer_is_final_until_it_is_nudged_or_turned_down():
    answered = Steps().model(content="Done.")
    nudged = Steps().model(content="Done.", nudge="plan", note="Items 2 are open.")
    turned_down = Steps().model(content="Done.").decision("reject", text="No.")
    taken = Steps().model(content="Done.").decision("approve")

    assert answered.progress().final == "Done."
    assert nudged.progress().final is None
    assert turned_down.progress().final is None
    assert turned_down.progress().messages[-1]["content"].endswith("Not accepted. No.")
    assert taken.progress().final_accepted


def test_only_an_outcome_that_happened_answers_the_call():
    lost = Steps().model(CALL).broken("c1", "outcome_unknown")
    lost.decision("outcome", "c1", happened=False)
    again = lost.progress()
    lost.decision("outcome", "c1", happened=True, result={"sent": 1})

    assert [call.id for call in again.pending] == ["c1"]
    assert lost.progress().pending == []
    assert lost.progress().messages[-1]["content"].endswith('{"sent":1}')


def test_the_plan_is_worked_off_by_the_items_that_steps_name():
    steps = Steps().plan("a", "b", "c", "d").model(CALL)
    progress = steps.tool("c1", plan_item=2).progress()

    assert [item["status"] for item in progress.plan_now()] == [
        "done",
        "open",
        "open",
        "open",
    ]
    assert progress.open_items() == [3]


def test_a_plan_that_is_none_leaves_a_message_that_says_so():
    steps = Steps().add(
        StepKind.PLAN,
        {"content": " ", "problem": "That was not a plan."},
        status=StepStatus.FAILED,
        error_class="invalid",
    )

    assert roles(steps) == ["system", "user", "user", "user"]
    assert steps.progress().messages[-1]["content"] == "That was not a plan."
    assert steps.progress().invalid_turns == 1


def test_taking_steps_one_by_one_is_taking_them_all():
    steps = Steps().plan("a", "b").model(CALL, CALL).tool("c1").tool("c2", plan_item=1)
    steps.model(("echo", "{")).tool(
        "c3", status=StepStatus.FAILED, error_class="invalid"
    )
    steps.model(content="Done.")

    whole, grown = steps.progress(), Steps().progress()
    for step in steps.steps:
        grown.take(step)

    assert grown == whole
    assert strict.problems({"model": "m", "messages": whole.messages[:-1]}) == []


def test_what_the_endpoint_counted_is_not_estimated_again():
    counted = Steps()
    counted.add(
        StepKind.MODEL, {"content": "", "calls": []} | {"content": "é"}, input_tokens=50
    )

    progress = counted.progress()

    assert progress.last_tokens == 50
    assert progress.bytes_since == len('{"content":"é","role":"assistant"}'.encode())
