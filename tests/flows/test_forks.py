"""Forks: done again from an earlier step, and never done twice outside."""

from __future__ import annotations

import pytest
from django.urls import reverse

from runs import forking, history, services
from runs.errors import BadInput, NotPermitted, Stale
from runs.models import Effect, Run, Transition
from runs.services import start
from runs.values import VerdictKind
from tests.flows.conftest import decide, make_agent
from tests.support import acts, factory
from tests.support.advance import advance, park_of, provider, settle
from tests.support.replies import calls, check, plan, text

pytestmark = pytest.mark.django_db

POST = ("post", {"what": "card"})
LOST = ("lost", {"what": "card"})
ECHO = ("echo", {"text": "a"})


@pytest.fixture
def done(run):
    """Read, checked, posted, reported: steps 1 to 6."""
    with provider(calls(ECHO), calls(POST), check(0.9), text("Posted.")):
        return settle(run)


def counters(run):
    return run.steps_used, run.tokens, run.cost, run.active_ms


def test_what_was_done_is_served_from_the_ledger_and_not_done_again(done, boss, client):
    before = history.prompt_of(done, 3)

    fork = forking.fork(done.pk, 3, by=boss)
    with provider(calls(POST), check(0.9), text("Posted again?")) as model:
        fork = settle(fork)

    assert (fork.state, fork.output) == ("completed", "Posted again?")
    assert len(acts.acts()) == 1
    assert model.requests[0].messages == before
    assert '"posted": "card"' in model.requests[-1].messages[-1]["content"]
    effect = Effect.objects.get()
    assert (effect.run_id, effect.status) == (done.pk, "done")
    client.force_login(boss)
    page = client.get(reverse("runs:detail", args=[fork.pk])).content.decode()
    assert "served from the ledger, not done again" in page


def test_a_fork_has_the_steps_before_and_counters_of_its_own(done, boss):
    fork = forking.fork(done.pk, 3, by=boss)

    assert (fork.root, fork.forked_from, fork.fork_step) == (done, done, 3)
    assert (fork.sequence, fork.submitter, fork.submit_key) == (2, boss, None)
    assert counters(fork) == (0, 0, 0, 0)
    columns = ("number", "kind", "name", "request", "response", "digest", "status")
    assert list(fork.steps.values_list(*columns)) == list(
        done.steps.filter(number__lt=3).values_list(*columns)
    )


def test_the_copied_steps_are_not_paid_again(done, boss):
    fork = forking.fork(done.pk, 6, by=boss)
    with provider(text("Done.")):
        fork = settle(fork)

    assert (fork.steps_used, fork.steps.count()) == (1, 6)
    assert fork.tokens == 120


@pytest.mark.parametrize(
    ("number", "state", "ways"),
    [
        (1, "idle", []),
        (3, "executing", ["executing"]),
        (6, "executing", ["executing"]),
    ],
)
def test_it_stands_where_the_original_stood(done, boss, number, state, ways):
    fork = forking.fork(done.pk, number, by=boss)

    moves = Transition.objects.filter(run=fork)
    assert fork.state == state
    assert [move.to_state for move in moves] == ways
    for move in moves:
        assert move.reason == f"forked from run {str(done.pk)[:8]} at step {number}"
        assert (move.actor, move.by) == ("boss", boss)


def test_in_the_middle_of_a_turn_every_call_still_gets_its_answer(run, boss):
    script = [calls(ECHO, POST, ECHO), check(0.2)]
    with provider(*script):
        run = settle(run)
    checked = run.steps.get(kind="check").number

    fork = forking.fork(run.pk, checked, by=boss)
    with provider(check(0.9), text("Done.")) as model:
        fork = settle(fork)

    assert fork.state == "completed"
    assert [m["role"] for m in model.requests[-1].messages[-4:]] == [
        "assistant",
        "tool",
        "tool",
        "tool",
    ]
    assert len(acts.acts()) == 1


def test_an_unknown_outcome_of_the_root_is_unknown_to_the_fork(run, boss):
    with provider(calls(LOST), check(0.9)):
        run = settle(run)
    parked = park_of(run)["reason"]

    fork = forking.fork(run.pk, 1, by=boss)
    with provider(calls(LOST), check(0.9)):
        fork = settle(fork)

    assert parked == park_of(fork)["reason"] == "outcome_unknown"
    assert len(acts.acts()) == 1


def test_what_was_done_by_hand_is_not_done_by_a_fork(run, boss):
    with provider(calls(POST), check(0.2), text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.SUPPLY, result="Posted by Ana.")
        run = settle(run)

    fork = forking.fork(run.pk, 1, by=boss)
    with provider(calls(POST), check(0.9), text("Done.")) as model:
        fork = settle(fork)

    assert (fork.state, acts.acts()) == ("completed", [])
    assert "Posted by Ana." in model.requests[-1].messages[-1]["content"]


def test_a_fork_of_a_fork_has_the_same_root(done, boss):
    first = forking.fork(done.pk, 3, by=boss)
    with provider(calls(POST), check(0.9), text("Done.")):
        first = settle(first)

    second = forking.fork(first.pk, 3, by=boss)

    assert (second.root, second.forked_from) == (done, first)


def test_the_plan_is_the_one_of_that_step(boss):
    run = start(agent=make_agent(plan_first=True), by=boss, task="Work")
    first = ("echo", {"text": "a", "plan_item": 1})
    second = ("echo", {"text": "b", "plan_item": 2})
    with provider(plan("x", "y"), calls(first), calls(second), text("Done.")):
        run = settle(run)

    fork = forking.fork(run.pk, 4, by=boss)

    assert [item["status"] for item in run.plan] == ["done", "done"]
    assert [item["status"] for item in fork.plan] == ["open", "open"]
    assert fork.plan_revision == 1


# Who may, and from where


def test_a_run_under_way_cannot_be_forked(run, boss):
    with pytest.raises(Stale):
        forking.fork(run.pk, 1, by=boss)


@pytest.mark.parametrize("number", [2, 5, 9])
def test_acts_are_no_place_to_start_from(done, boss, number):
    with pytest.raises(BadInput):
        forking.fork(done.pk, number, by=boss)

    assert Run.objects.count() == 1


def test_a_decision_is_no_place_to_start_from(run, boss):
    with provider(calls(POST), check(0.2), text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.REJECT, text="No.")
        run = settle(run)
    decision = run.steps.get(kind="decision")

    with pytest.raises(BadInput):
        forking.fork(run.pk, decision.number, by=boss)

    assert decision.number not in {step.number for step in forking.places(run)}


def test_only_deciders_of_the_agent_may(done):
    ana = factory.make_user("ana", "operators")
    eve = factory.make_user("eve", "submitters")
    assert forking.may_fork(done, ana)
    assert not forking.may_fork(done, eve)

    done.agent.deciders.add(*factory.make_user("", "admins").groups.all())

    assert not forking.may_fork(done, ana)
    with pytest.raises(NotPermitted):
        forking.fork(done.pk, 1, by=ana)


# The pages


@pytest.fixture
def operator(client):
    ana = factory.make_user("ana", "operators")
    client.force_login(ana)
    return client


def test_a_step_is_retried_from_the_runs_page(done, operator):
    address = reverse("runs:fork", args=[done.pk, 3])
    page = operator.get(reverse("runs:detail", args=[done.pk])).content.decode()
    asked = operator.get(address).content.decode()
    answer = operator.post(address)

    fork = Run.objects.get(forked_from=done)
    assert address in page
    assert "Retry from step 3?" in asked
    assert answer["Location"] == reverse("runs:detail", args=[fork.pk])
    assert "from step 3" in operator.get(answer["Location"]).content.decode()
    page = operator.get(reverse("runs:detail", args=[done.pk])).content.decode()
    assert f"run {str(fork.pk)[:8]}" in page


def test_asking_starts_nothing(done, operator):
    operator.get(reverse("runs:fork", args=[done.pk, 3]))

    assert Run.objects.count() == 1


def test_others_are_not_offered_it_and_may_not(done, boss, client):
    eve = factory.make_user("eve", "submitters")
    run = services.start(agent=done.agent, by=eve, task="Mine")
    with provider(text("Done.")):
        settle(run)
    client.force_login(eve)

    page = client.get(reverse("runs:detail", args=[run.pk])).content.decode()

    assert "Retry from here" not in page
    assert client.post(reverse("runs:fork", args=[run.pk, 1])).status_code == 403
    assert client.post(reverse("runs:fork", args=[done.pk, 1])).status_code == 404


def test_a_run_under_way_is_refused_with_a_page(run, operator):
    with provider(calls(ECHO)):
        advance(run, steps=1)

    answer = operator.post(reverse("runs:fork", args=[run.pk, 1]))

    assert answer.status_code == 409
    assert "under way" in answer.content.decode()


@pytest.mark.parametrize(("number", "has_failed"), [(1, False), (3, True)])
def test_a_fork_is_found_among_errors_if_a_step_it_has_failed(
    done, boss, number, has_failed
):
    done.steps.filter(number=2).update(status="failed")
    Run.objects.filter(pk=done.pk).update(had_error=True)

    fork = forking.fork(done.pk, number, by=boss)

    assert fork.had_error is has_failed
