"""What a run does next, from its history alone."""

from __future__ import annotations

from decimal import Decimal

import pytest

from runs.budgets import Used
from runs.facts import Finish, NewStep
from runs.planning import model_state, next_action
from runs.pricing import Price
from runs.states import ParkReason, RunState, StepKind, StepStatus
from runs.toolbox import Toolbox
from runs.values import Park, Policy
from tests.support.acts import browse, echo, post
from tests.support.planning import Steps, facts, offered

SAY = ("echo", {"text": "x"})
LETTER = ("post", {"what": "x"})


def wanted(steps: Steps, **more):
    return next_action(facts(**more), steps.progress())


def check_of(action: NewStep, confidence: float = 0.9, **more):
    said = {
        "confidence": confidence,
        "rules_that_apply": [],
        "rationale": "r",
        "reversible": False,
        "side_effects": [],
        "will_do": "w",
    }
    return {"response": said | more, "request": action.request}


def checked(steps: Steps, confidence: float, **more) -> Steps:
    """The check that the planner wants, answered."""
    action = wanted(steps, **more)
    assert isinstance(action, NewStep)
    assert action.kind is StepKind.CHECK
    return steps.add(StepKind.CHECK, **check_of(action, confidence))


def reason(action) -> ParkReason:
    assert isinstance(action, Park)
    return action.reason


def test_a_run_begins_with_its_plan_or_with_the_model():
    planned = wanted(Steps(), config={"plan_first": True}, state=RunState.IDLE)
    plain = wanted(Steps(), state=RunState.IDLE)

    assert (planned.kind, planned.state) == (StepKind.PLAN, RunState.PLANNING)
    assert (plain.kind, plain.state) == (StepKind.MODEL, RunState.EXECUTING)


@pytest.mark.parametrize(
    ("state", "after"),
    [
        (RunState.IDLE, RunState.EXECUTING),
        (RunState.PLANNING, RunState.EXECUTING),
        (RunState.EXECUTING, RunState.OBSERVING),
        (RunState.OBSERVING, RunState.OBSERVING),
        (RunState.AWAITING_HUMAN, RunState.OBSERVING),
    ],
)
def test_only_the_first_model_call_of_a_stretch_executes(state, after):
    assert model_state(state) is after


def test_a_read_runs_and_an_act_is_checked_first():
    read, act = wanted(Steps().model(SAY)), wanted(Steps().model(LETTER))

    assert (read.kind, read.name) == (StepKind.TOOL, "echo")
    assert (act.kind, act.name) == (StepKind.CHECK, "post")


def test_a_check_that_is_sure_lets_through_and_a_doubtful_one_parks():
    sure = wanted(checked(Steps().model(LETTER), 0.75))
    doubtful = wanted(checked(Steps().model(LETTER), 0.7499))

    assert (sure.kind, sure.name) == (StepKind.TOOL, "post")
    assert reason(doubtful) is ParkReason.LOW_CONFIDENCE
    assert doubtful.figures["confidence"] == "0.7499"


@pytest.mark.parametrize("policy", [Policy.AUTO, Policy.ASK_BELOW, Policy.ALWAYS])
def test_gates_come_in_their_order(policy):
    tools = [offered(post, policy), echo, browse]
    plain = Steps().model(LETTER)
    repeated = Steps().model(LETTER)
    act = {"effect": "irreversible", "arguments": {"what": "x"}}
    repeated.tool("c1", name="post", request=act).model(LETTER)
    tainted = Steps().model(("browse", {"page": "p"}))
    tainted.tool("c1", name="browse", response={"untrusted": True}).model(LETTER)

    asks = policy is Policy.ALWAYS
    first = wanted(plain, tools=tools)

    if asks:
        assert reason(first) is ParkReason.ALWAYS_ASK
    else:
        kind = StepKind.TOOL if policy is Policy.AUTO else StepKind.CHECK
        assert first.kind is kind
    always = ParkReason.ALWAYS_ASK
    assert reason(wanted(repeated, tools=tools)) is (
        always if asks else ParkReason.REPEATED_CALL
    )
    assert reason(wanted(tainted, tools=tools)) is (
        always if asks else ParkReason.UNTRUSTED_CONTENT
    )


def test_a_persons_approval_opens_every_gate_for_this_call_only():
    tools = [offered(post, Policy.ALWAYS), echo]
    steps = Steps().model(LETTER, LETTER).decision("approve", "c1")

    approved = wanted(steps, tools=tools)
    steps.tool("c1", name="post", request={"effect": "irreversible"})

    assert (approved.kind, approved.name) == (StepKind.TOOL, "post")
    assert reason(wanted(steps, tools=tools)) is ParkReason.ALWAYS_ASK


def test_edited_arguments_are_what_is_planned():
    steps = Steps().model(LETTER).decision("approve", "c1", arguments={"what": "y"})

    action = wanted(steps)

    assert (action.request["arguments"], action.request["edited"]) == (
        {"what": "y"},
        True,
    )


@pytest.mark.parametrize(
    ("error_class", "expected"),
    [
        ("transient", ParkReason.RETRIES),
        ("fatal", ParkReason.FATAL),
        ("refused", ParkReason.REFUSED),
        ("context", ParkReason.CONTEXT),
        ("outcome_unknown", ParkReason.OUTCOME_UNKNOWN),
    ],
)
def test_what_no_model_can_answer_for_parks(error_class, expected):
    steps = Steps().model(SAY).broken("c1", error_class, "it broke")

    action = wanted(steps)

    assert reason(action) is expected
    assert "it broke" in action.question
    assert action.call is not None
    assert wanted(steps.decision("retry")).kind is StepKind.TOOL


def test_a_call_names_its_item_of_the_plan():
    steps = Steps().plan("a", "b").model(("echo", {"text": "x", "plan_item": 2}))

    action = wanted(steps)

    assert action.plan_item == 2
    assert action.request["arguments"] == {"text": "x"}


def test_an_open_plan_is_nudged_once_and_then_parks():
    steps = Steps().plan("a", "b", "c").model(content="Done.", nudge="plan", note="…")
    nudged = wanted(steps)
    steps.model(content="Done.")

    action = wanted(steps)

    assert nudged.kind is StepKind.MODEL
    assert reason(action) is ParkReason.OPEN_PLAN
    assert action.figures["open_items"] == [1, 2]
    assert wanted(steps.decision("approve")) == Finish("Done.")


def test_the_answer_is_checked_where_the_agent_wants_it():
    config = {"check_answer": True}
    steps = Steps().model(content="Done.")
    first = wanted(steps, config=config)
    sure = wanted(checked(steps, 0.9, config=config), config=config)
    unsure = checked(Steps().model(content="Done."), 0.1, config=config)

    assert (first.kind, first.name) == (StepKind.CHECK, "answer")
    assert sure == Finish("Done.")
    assert reason(wanted(unsure, config=config)) is ParkReason.ANSWER


def test_a_failed_check_of_the_answer_parks():
    config = {"check_answer": True}
    steps = Steps().model(content="Done.")
    asked = wanted(steps, config=config)
    steps.add(
        StepKind.CHECK,
        {"problem": "no JSON"},
        asked.request,
        status=StepStatus.FAILED,
        error_class="check",
    )

    action = wanted(steps, config=config)

    assert reason(action) is ParkReason.ANSWER
    assert "no JSON" in action.question


def test_a_call_that_does_not_fit_a_budget_parks_before_it_is_made():
    box = Toolbox({}, {"m": Price(Decimal(1), None, Decimal(1))})
    full = wanted(Steps(), limits={"steps": 2}, used=Used(steps=2))
    dear = wanted(Steps(), limits={"money": "0.0001"}, toolbox=box)
    unknown = wanted(Steps(), limits={"money": "1"})

    assert [reason(action) for action in (full, dear, unknown)] == [
        ParkReason.BUDGET
    ] * 3
    assert unknown.figures == {"budget": "money", "model": "m"}


def test_a_full_window_is_shortened_before_the_next_call():
    steps = Steps()
    for n in range(1, 4):
        steps.model(SAY).tool(f"c{n}", "x" * 3000)

    action = wanted(steps, config={"context_window": 3000}, sequence=6)

    assert (action.kind, action.request) == (StepKind.COMPACTION, {"upto": 2})
    assert wanted(steps, sequence=6).kind is StepKind.MODEL


def test_after_an_overflow_it_shortens_more_and_then_parks():
    steps = Steps().model(SAY).tool("c1", "x" * 3000)
    steps.add(StepKind.MODEL, {}, status=StepStatus.FAILED, error_class="context")
    first = wanted(steps, sequence=3)
    steps.add(StepKind.COMPACTION, {}, first.request)
    steps.add(StepKind.MODEL, {}, status=StepStatus.FAILED, error_class="context")

    assert first.kind is StepKind.COMPACTION
    assert reason(wanted(steps, sequence=5)) is ParkReason.CONTEXT


@pytest.mark.parametrize("name", ["no_such_tool", "post"])
def test_what_may_not_be_called_is_answered_with_what_may(name):
    tools = [echo, offered(post, Policy.BLOCKED)]

    action = wanted(Steps().model((name, {})), tools=tools)

    assert action.kind is StepKind.TOOL
    assert action.request["feedback"].endswith("Tools: echo.")


def test_the_worst_case_has_the_tools_in_it_until_they_are_counted():
    config = {"max_output_tokens": 100}
    planned = Steps().plan("a")
    before = wanted(planned, config=config, tools_bytes=3000).reservation.tokens
    planned.add(StepKind.MODEL, {"content": "", "note": "?"}, input_tokens=2000)
    after = wanted(planned, config=config, tools_bytes=3000).reservation.tokens

    assert 1000 + 100 < before < 1400
    assert 2000 + 100 < after < 2200
