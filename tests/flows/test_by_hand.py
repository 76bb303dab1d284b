"""What people do themselves: results supplied, words kept, plans changed."""

from __future__ import annotations

import pytest
from django.db import transaction

from agentops import clock
from runs import deciding, guidance, history
from runs.errors import BadInput
from runs.models import Effect
from runs.services import start
from runs.values import Verdict, VerdictKind
from tests.flows.conftest import decide, make_agent
from tests.support import acts
from tests.support.advance import park_of, provider, settle
from tests.support.replies import calls, check, plan, text

pytestmark = pytest.mark.django_db

POST = ("post", {"what": "card"})


def supply(run, by, result="Posted by Ana."):
    decide(run, by, VerdictKind.SUPPLY, result=result)


def test_what_was_done_by_hand_is_never_done_by_the_tool(run, boss):
    script = [calls(POST, ("echo", {"text": "a"})), check(0.2), text("Posted.")]

    with provider(*script) as model:
        run = settle(run)
        supply(run, boss, {"number": 7})
        run = settle(run)

    assert (run.state, acts.acts()) == ("completed", [])
    answer = model.requests[-1].messages[-2]
    assert answer["role"] == "tool"
    assert "A person did this by hand" in answer["content"]
    assert '{"number":7}' in answer["content"]
    effect = Effect.objects.get()
    assert (effect.status, effect.result) == ("done", {"number": 7})
    assert effect.step_number == run.steps.get(kind="decision").number


def test_the_same_call_after_that_asks_as_the_second_of_its_kind(run, boss):
    with provider(calls(POST), check(0.2), calls(POST)):
        run = settle(run)
        supply(run, boss)
        run = settle(run)

    park = park_of(run)
    assert (park["reason"], park["call"]["occurrence"]) == ("repeated_call", 2)
    assert Effect.objects.count() == 1


def test_a_call_that_failed_can_be_done_by_hand(run, boss):
    script = [calls(("broken", {"text": "a"})), text("Done.")]

    with provider(*script) as model:
        run = settle(run)
        parked = park_of(run)["reason"]
        supply(run, boss)
        run = settle(run)

    assert (parked, run.state) == ("retries", "completed")
    assert "Posted by Ana." in model.requests[-1].messages[-1]["content"]
    assert not Effect.objects.exists()


def test_what_the_ledger_says_was_done_is_not_done_by_hand_as_well(run, boss):
    with provider(calls(POST), check(0.2)):
        run = settle(run)
    call = park_of(run)["call"]
    Effect.objects.create(
        key=call["key"],
        root=run,
        run=run,
        step_number=9,
        tool="post",
        arguments_digest="",
        occurrence=1,
        status="done",
        result="Posted.",
        owner="other",
        started_at=run.created_at,
    )

    with pytest.raises(BadInput), transaction.atomic():
        deciding.resume(
            run.pk,
            Verdict(VerdictKind.SUPPLY, result="Again."),
            by=boss,
            sequence=run.sequence,
        )

    assert Effect.objects.get().result == "Posted."


def test_a_result_is_needed(run, boss):
    with provider(calls(POST), check(0.2)):
        run = settle(run)

    with pytest.raises(BadInput):
        supply(run, boss, "")


# Kept guidance


def test_kept_guidance_opens_every_prompt_and_is_proved(run, boss):
    guidance.keep("Be brief.", by=boss, at=clock.now(), agent=run.agent)

    with provider(calls(("echo", {"text": "a"})), text("Done.")) as model:
        later = settle(start(agent=run.agent, by=boss, task="Post a letter"))

    for request in model.requests:
        assert request.messages[0]["content"].endswith("- Be brief.")
    asked = later.steps.filter(kind="model")
    rebuilt = [history.prompt_of(later, step.number) for step in asked]
    assert rebuilt == [request.messages for request in model.requests]


# Plans


@pytest.fixture
def planning(boss):
    return start(agent=make_agent(plan_first=True), by=boss, task="Work")


def changed(run, *texts):
    """The plan with these items open instead of those that are."""
    run.refresh_from_db()
    done = [item for item in run.plan if item["status"] != "open"]
    return [*done, *({"text": t, "status": "open", "reason": ""} for t in texts)]


def test_a_changed_plan_is_read_and_followed(planning, boss):
    first = ("echo", {"text": "a", "plan_item": 1})
    script = [
        plan("Read", "Post", "Report"),
        calls(first),
        calls(("post", {"what": "card", "plan_item": 2}), ("echo", {"text": "b"})),
        check(0.2),
        calls(("echo", {"text": "c", "plan_item": 2})),
        text("Done."),
    ]

    with provider(*script) as model:
        run = settle(planning)
        new = changed(run, "Ask Ben", "Report")
        decide(run, boss, VerdictKind.PLAN, plan=new, text="No post.")
        run.refresh_from_db()
        right_after = (run.plan, run.plan_revision)
        run = settle(run)

    assert right_after == (new, 2)
    assert (run.state, acts.acts()) == ("completed", [])
    *_, one, two, said = model.requests[4].messages
    assert one["content"] == two["content"]
    assert one["content"].startswith("Not carried out: a person changed the plan")
    assert said["role"] == "user"
    assert (
        "No post. The plan now:\n1. Read (done)\n2. Ask Ben\n3. Report"
        in (said["content"])
    )
    assert [item["text"] for item in run.plan] == ["Read", "Ask Ben", "Report"]
    assert {item["status"] for item in run.plan} == {"done"}


def test_a_plan_left_open_can_be_changed_instead_of_accepted(planning, boss):
    script = [plan("a", "b", "c"), text("Done."), text("Done."), text("All done.")]

    with provider(*script) as model:
        run = settle(planning)
        parked = park_of(run)["reason"]
        decide(run, boss, VerdictKind.PLAN, plan=changed(run, "Just report"))
        run = settle(run)

    assert parked == "open_plan"
    assert run.output == "All done."
    assert (
        model.requests[-1]
        .messages[-1]["content"]
        .startswith("A person changed the plan. The plan now:\n1. Just report")
    )


def test_finished_items_cannot_be_changed(planning, boss):
    with provider(plan("a", "b", "c"), text("Done."), text("Done.")):
        run = settle(planning)

    other = [{"text": "z", "status": "done", "reason": ""}, *changed(run, "b")]
    with pytest.raises(BadInput):
        decide(run, boss, VerdictKind.PLAN, plan=other)


def test_a_run_without_a_plan_has_none_to_change(run, boss):
    with provider(calls(POST), check(0.2)):
        run = settle(run)

    with pytest.raises(BadInput):
        decide(run, boss, VerdictKind.PLAN, plan=changed(run, "b"))
