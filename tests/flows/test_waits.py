"""What may have changed while a run waited: for another try, or for a person."""

from __future__ import annotations

import pytest

from runs import engine, policy
from runs.models import Effect, Run, Step, Tool
from runs.services import start
from runs.values import VerdictKind
from runs.work import Work
from tests.flows.conftest import decide, make_agent
from tests.support.acts import acts
from tests.support.advance import OWNER, advance, provider, settle, take
from tests.support.replies import calls, check, error, plan, text

pytestmark = pytest.mark.django_db

BUSY = error(429, "rate_limit_exceeded")


def spend_the_time(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(active_ms=601_000)


def test_a_plan_that_met_the_budget_while_it_waited_is_no_bad_plan(boss):
    run = start(agent=make_agent(plan_first=True), by=boss, task="Say it")

    with provider(BUSY, plan("Say it"), text("Done.")) as model:
        run = advance(run)
        spend_the_time(run)
        run = settle(run)
        decide(run, boss, VerdictKind.TOP_UP, limits={"seconds": 600_000})
        settle(run)

    assert run.park_reason == "budget"
    assert [m["role"] for m in model.requests[-1].messages] == [
        *("system", "user"),
        *("user", "assistant", "user"),
    ]


def test_a_check_that_met_the_budget_while_it_waited_has_not_failed(run):
    with provider(calls(("post", {"what": "x"})), BUSY):
        run = advance(run)
        spend_the_time(run)
        run = settle(run)

    assert run.park_reason == "budget"


def test_what_was_approved_does_not_run_otherwise_after_a_wait_for_a_person(run, boss):
    with provider(calls(("post", {"what": "x"})), check(0.3)):
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE)
        spend_the_time(run)
        run = settle(run)
        Tool.objects.update_or_create(name="post", defaults={"settings": {"a": 1}})
        policy.forget()
        decide(run, boss, VerdictKind.TOP_UP, limits={"seconds": 600_000})
        again = settle(run)

    assert run.park_reason == "budget"
    assert again.park
    assert (again.park_reason, again.park["figures"]["changed"]) == (
        "changed",
        ["settings"],
    )
    assert acts() == []


def test_a_person_tells_the_outcome_of_a_call_whose_tool_was_switched_off(run, boss):
    with provider(calls(("lost", {"what": "x"})), check(0.9), text("Done.")) as model:
        run = advance(run, steps=2)
        run = advance(run, steps=1)
        Tool.objects.update_or_create(name="lost", defaults={"enabled": False})
        policy.forget()
        run = settle(run)
        decide(run, boss, VerdictKind.OUTCOME, happened=True, result="It is there.")
        run = settle(run)

    assert Effect.objects.get().status == "done"
    assert "It is there." in model.requests[-1].tool_results[0]


def test_a_call_whose_tool_was_switched_off_can_be_rejected(run, boss):
    with provider(calls(("post", {"what": "x"})), check(0.9), text("Done.")) as model:
        run = advance(run, steps=2)
        Tool.objects.update_or_create(name="post", defaults={"enabled": False})
        policy.forget()
        run = settle(run)
        decide(run, boss, VerdictKind.REJECT, text="Leave it.")
        run = settle(run)

    assert "Leave it." in model.requests[-1].tool_results[0]
    assert run.state == "completed"


def test_a_step_says_that_part_of_its_cost_is_a_guess(boss):
    run = start(agent=make_agent(), by=boss, task="Say it")
    lost = error(504, "timeout")

    with provider(lost, BUSY, text("Done.")):
        run = settle(run)

    assert run.is_estimated
    assert Step.objects.get(run=run).is_estimated


def test_a_tool_switched_off_while_a_call_waits_is_not_tried_again(run, boss):
    with provider(calls(("flaky", {"text": "x"}))):
        run = advance(run)
        Tool.objects.update_or_create(name="flaky", defaults={"enabled": False})
        policy.forget()
        run = settle(run)

    assert run.park
    assert (run.park_reason, run.park["figures"]["changed"]) == (
        "changed",
        ["permission"],
    )


def test_an_act_that_keeps_ending_its_worker_may_have_happened(run):
    with provider(calls(("post", {"what": "x"})), check(0.9)):
        run = advance(run, steps=2)
        take(run)
        held = engine.open(run.pk, OWNER)
        work = engine.proceed(held)
        assert isinstance(work, Work)
        engine.begin(held, work)
        engine.park_poison(run.pk, OWNER)

    run.refresh_from_db()
    assert run.park_reason == "poison"
    assert run.steps.get(number=run.sequence).status == "outcome_unknown"
    assert Effect.objects.get().status == "unknown"
    assert run.steps_used == run.steps.count() == 3


def test_an_accepted_answer_is_delivered_even_by_a_run_taken_for_deadly(boss):
    run = start(agent=make_agent(check_answer=True), by=boss, task="Ask")

    with provider(text("42"), check(0.1)):
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE)
    take(run)
    engine.park_poison(run.pk, OWNER)

    run.refresh_from_db()
    assert (run.state, run.output, run.wake_at) == ("completed", "42", None)


def test_items_nobody_worked_on_stay_open_in_an_answer_that_was_accepted(boss):
    run = start(agent=make_agent(plan_first=True), by=boss, task="Say it")

    with provider(plan("Read", "Write", "Send"), text("Done."), text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE)
        ended = settle(run)

    assert run.park_reason == "open_plan"
    assert [item["status"] for item in ended.plan] == ["open", "open", "done"]


def test_who_raises_a_budget_has_not_looked_at_what_the_agent_read(boss):
    run = start(agent=make_agent(limits={"steps": 2}), by=boss, task="Post it")
    script = [calls(("browse", {"page": "p"})), calls(("post", {"what": "x"}))]

    with provider(*script):
        run = settle(run)
        decide(run, boss, VerdictKind.TOP_UP, limits={"steps": 20})
        again = settle(run)

    assert run.park_reason == "budget"
    assert again.park_reason == "untrusted_content"
