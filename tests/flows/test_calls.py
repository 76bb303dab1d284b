"""What happens to the calls a model makes, one after another."""

from __future__ import annotations

import json

import pytest

from agentops import clock
from runs import policy
from runs.models import Attempt, Effect, Step, Tool
from runs.services import start
from runs.values import VerdictKind
from tests.flows.conftest import decide, make_agent
from tests.support.acts import acts
from tests.support.advance import advance, provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db


def test_the_calls_of_one_reply_run_in_order_and_are_all_answered(run):
    script = [
        calls(("echo", {"text": "a"}), ("no_such_tool", {}), ("echo", {"text": "b"})),
        text("Done."),
    ]

    with provider(*script) as model:
        run = settle(run)

    first, second, third = model.requests[1].tool_results
    assert (json.loads(first), json.loads(third)) == ({"said": "a"}, {"said": "b"})
    assert "There is no tool 'no_such_tool' here. Tools: " in second
    assert run.state == "completed"


def test_later_calls_wait_while_one_is_parked(run, boss):
    script = [
        calls(
            ("echo", {"text": "a"}), ("post", {"what": "x"}), ("echo", {"text": "b"})
        ),
        check(0.3),
        text("Done."),
    ]

    with provider(*script) as model:
        run = settle(run)
        while_parked = [s.name for s in run.steps.filter(kind="tool")]
        decide(run, boss, VerdictKind.REJECT, text="Not today.")
        run = settle(run)

    assert while_parked == ["echo"]
    assert "Not today." in model.requests[-1].tool_results[1]
    assert json.loads(model.requests[-1].tool_results[2]) == {"said": "b"}
    assert acts() == []


def test_edited_arguments_are_what_runs_and_the_model_is_told(run, boss):
    script = [calls(("post", {"what": "x"})), check(0.3), text("Done.")]

    with provider(*script) as model:
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE, arguments={"what": "y"})
        run = settle(run)

    assert [act["what"] for act in acts()] == ["y"]
    assert "A person changed the arguments" in model.requests[-1].tool_results[0]
    assert json.loads(
        model.requests[-1].messages[-2]["tool_calls"][0]["function"]["arguments"]
    ) == {"what": "x"}


def test_guidance_answers_the_call_and_is_said_by_the_user(run, boss):
    script = [calls(("post", {"what": "x"})), check(0.3), text("Done.")]

    with provider(*script) as model:
        run = settle(run)
        decide(run, boss, VerdictKind.GUIDE, text="Write to Bo instead.")
        run = settle(run)

    tool, person = model.requests[-1].messages[-2:]
    assert (tool["role"], person["role"]) == ("tool", "user")
    assert person["content"].endswith("Write to Bo instead.")
    assert acts() == []


def test_a_second_identical_act_always_asks(run, boss):
    letter = calls(("post", {"what": "x"}))

    with provider(letter, check(0.99), letter, text("Done.")):
        run = settle(run)

    assert (run.state, run.park_reason) == ("awaiting_human", "repeated_call")
    assert run.park["call"]["occurrence"] == 2
    assert len(acts()) == 1


def test_after_untrusted_content_an_act_asks_whatever_the_score(run):
    script = [calls(("browse", {"page": "p"})), calls(("post", {"what": "x"}))]

    with provider(*script):
        run = settle(run)

    assert run.park_reason == "untrusted_content"


def test_a_question_is_answered_as_the_result_of_its_call(run, boss):
    script = [calls(("ask_human", {"question": "Which one?"})), text("Done.")]

    with provider(*script) as model:
        run = settle(run)
        asked = (run.park_reason, run.park["title"])
        decide(run, boss, VerdictKind.ANSWER, text="The blue one.")
        settle(run)

    assert asked == ("question", "Which one?")
    assert model.requests[-1].tool_results == ["A person answers: The blue one."]


def test_a_transient_error_waits_in_the_row_and_is_tried_again(run):
    script = [calls(("flaky", {"text": "x"})), text("Done.")]

    with provider(*script):
        run = advance(run)
        waits_s = (run.wake_at - clock.now()).total_seconds()
        lease, wake_at = run.lease_owner, run.wake_at
        run = settle(run)

    assert lease == ""
    assert wake_at is not None
    assert 5 < waits_s < 10
    assert Attempt.objects.get().error_class == "transient"
    assert run.steps.get(name="flaky").response["result"] == "x at try 2"
    assert run.active_ms >= 7000


def test_used_up_tries_park_and_a_retry_starts_the_counter_again(run, boss):
    script = [calls(("broken", {"text": "x"}))]

    with provider(*script):
        run = settle(run)
        tries = run.steps.get(name="broken").attempts
        decide(run, boss, VerdictKind.RETRY)
        run = advance(run)

    assert tries == 2
    assert run.state == "executing"
    assert Step.objects.filter(name="broken").count() == 2
    assert Step.objects.filter(name="broken").latest("number").attempts == 1


def test_an_act_is_tried_again_only_if_nothing_went_out(run):
    script = [calls(("closed_office", {"what": "x"})), check(0.9), text("Done.")]

    with provider(*script):
        run = settle(run)

    assert run.state == "completed"
    assert len(acts()) == 1
    assert Effect.objects.get().status == "done"


def test_an_unknown_outcome_parks_and_is_done_again_only_when_it_did_not_happen(
    run, boss
):
    script = [calls(("lost", {"what": "x"})), check(0.9), text("Done.")]

    with provider(*script):
        run = settle(run)
        first = (run.park_reason, len(acts()), Effect.objects.get().status)
        decide(run, boss, VerdictKind.OUTCOME, happened=False)
        run = settle(run)
        second = (run.park_reason, len(acts()))
        decide(run, boss, VerdictKind.OUTCOME, happened=True, result="It is there.")
        run = settle(run)

    assert first == ("outcome_unknown", 1, "unknown")
    assert second == ("outcome_unknown", 2)
    assert run.state == "completed"
    assert len({act["key"] for act in acts()}) == 1
    assert Effect.objects.get().status == "done"


def test_bad_calls_in_a_row_park(run):
    with provider(then=calls(("post", {"wrong": 1}))):
        run = settle(run)

    assert run.park_reason == "invalid_calls"
    assert run.park["error"]["class"] == "invalid"
    assert Step.objects.filter(kind="check").count() == 0


def test_the_same_call_with_the_same_result_is_warned_of_then_parks(run):
    with provider(then=calls(("echo", {"text": "x"}))) as model:
        run = settle(run)

    warned = [r.messages[-1]["content"] for r in model.requests[1:]]
    assert run.park_reason == "no_progress"
    assert [text.startswith("You have made this call") for text in warned] == [
        False,
        False,
        True,
    ]


def test_an_empty_reply_is_nudged_once_then_parks(run):
    with provider(text(""), text("")) as model:
        run = settle(run)

    assert "empty" in model.requests[1].messages[-1]["content"]
    assert run.park_reason == "no_progress"


def test_a_tool_switched_off_meanwhile_is_not_run(run, boss):
    script = [calls(("post", {"what": "x"})), check(0.9), text("Done.")]

    with provider(*script):
        run = advance(run, steps=2)
        Tool.objects.update_or_create(name="post", defaults={"enabled": False})
        policy.forget()
        run = settle(run)

    assert acts() == []
    assert (run.park_reason, run.park["figures"]["changed"]) == (
        "changed",
        ["permission"],
    )


def test_a_policy_that_changed_after_the_approval_asks_again(run, boss):
    script = [calls(("post", {"what": "x"})), check(0.3)]

    with provider(*script):
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE)
        Tool.objects.update_or_create(name="post", defaults={"policy": "always"})
        policy.forget()
        run = settle(run)

    assert (run.park_reason, run.park["figures"]["changed"]) == ("changed", ["policy"])
    assert acts() == []


def test_a_budget_parks_with_figures_and_a_top_up_resumes_at_the_same_step(boss):
    agent = make_agent(limits={"steps": 2})
    run = start(agent=agent, by=boss, task="Say it")
    script = [calls(("echo", {"text": "a"})), text("Done.")]

    with provider(*script) as model:
        run = settle(run)
        assert run.park
        parked = (run.park_reason, run.park["figures"]["budget"], len(model.requests))
        decide(run, boss, VerdictKind.TOP_UP, limits={"steps": 10})
        run = settle(run)

    assert parked == ("budget", "steps", 1)
    assert run.state == "completed"
    assert len(model.requests) == 2


def test_an_agent_without_a_reviewer_ends_as_an_error(boss):
    agent = make_agent(has_reviewer=False)
    run = start(agent=agent, by=boss, task="Post it")

    with provider(calls(("post", {"what": "x"})), check(0.1)):
        run = settle(run)

    assert run.state == "error"
    assert "10 % sure" in run.error
