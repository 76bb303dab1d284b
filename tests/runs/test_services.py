"""Starting and cancelling: clear errors, and nothing twice."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from runs import policy, services
from runs.errors import BadInput, NotPermitted, Stale
from runs.models import Agent, Price, Run
from runs.services import start
from runs.signals import run_changed
from runs.values import RunChange
from tests.support import factory
from tests.support.advance import advance, provider
from tests.support.replies import text
from tests.support.rows import make_run

pytestmark = pytest.mark.django_db

SCHEMA = {
    "type": "object",
    "properties": {
        "quarter": {"type": "string", "pattern": "^Q[1-4]$"},
        "limit": {"type": "integer", "minimum": 1},
    },
    "required": ["quarter"],
    "additionalProperties": False,
}


@pytest.fixture
def boss():
    return User.objects.create_superuser("boss")


@pytest.fixture
def agent():
    return Agent.objects.create(
        slug="a",
        name="Agent",
        prompt="You work.",
        input_schema=SCHEMA,
        task_template="Report {quarter} up to {limit} and {nothing}.",
    )


GOOD = {"quarter": "Q3", "limit": 5}


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ({"inputs": {}}, {"inputs.quarter"}),
        ({"inputs": GOOD | {"quarter": "Q9"}}, {"inputs.quarter"}),
        ({"inputs": GOOD | {"limit": 0}}, {"inputs.limit"}),
        ({"inputs": GOOD | {"limit": float("nan")}}, {"inputs.limit"}),
        ({"inputs": GOOD | {"more": 1}}, {"inputs"}),
        ({"task": "x" * 20_001}, {"task"}),
        ({"limits": {"steps": 0}}, {"limits.steps"}),
        ({"limits": {"money": -1, "tokens": "NaN"}}, {"limits.money", "limits.tokens"}),
        ({"limits": {"seconds": 10**9}}, {"limits.seconds"}),
        ({"limits": {"luck": 1}}, {"limits.luck"}),
    ],
)
def test_bad_input_is_named_field_by_field_and_starts_nothing(
    agent, boss, given, fields
):
    with pytest.raises(BadInput) as caught:
        start(**{"agent": agent, "by": boss, "inputs": GOOD} | given)

    assert set(caught.value.fields) == fields
    assert Run.objects.count() == 0


def test_a_task_is_needed_where_there_is_no_template(boss):
    plain = Agent.objects.create(slug="b", name="Plain", prompt="You work.")

    with pytest.raises(BadInput) as caught:
        start(agent=plain, by=boss, task=" \n ")

    assert set(caught.value.fields) == {"task"}


def test_an_agent_that_is_switched_off_starts_nothing(agent, boss):
    agent.enabled = False

    with pytest.raises(BadInput) as caught:
        start(agent=agent, by=boss, inputs=GOOD)

    assert set(caught.value.fields) == {"agent"}


def test_who_may_not_submit_is_told_so(agent):
    nobody = User.objects.create_user("nobody")

    with pytest.raises(NotPermitted):
        start(agent=agent, by=nobody, inputs=GOOD)


def test_the_form_fills_the_template_by_plain_text(agent, boss):
    run = start(
        agent=agent, by=boss, inputs={"quarter": "Q3", "limit": 7}, task="More{."
    )

    assert run.task == "Report Q3 up to 7 and {nothing}.\n\nMore{."
    assert (run.state, run.sequence, run.submitter) == ("idle", 0, boss)
    assert run.wake_at == run.created_at
    assert run.limits["steps"] == 25


def test_the_same_key_of_the_same_person_is_the_same_run(agent, boss):
    other = User.objects.create_superuser("other")
    first = start(agent=agent, by=boss, inputs=GOOD, key="k")

    again = start(agent=agent, by=boss, inputs={"quarter": "nonsense"}, key="k")
    theirs = start(agent=agent, by=other, inputs=GOOD, key="k")
    without = start(agent=agent, by=boss, inputs=GOOD)

    assert again.pk == first.pk
    assert len({first.pk, theirs.pk, without.pk}) == 3


def test_a_version_is_made_only_when_the_agent_has_changed(agent, boss):
    first = start(agent=agent, by=boss, inputs=GOOD)
    second = start(agent=agent, by=boss, inputs=GOOD)
    agent.prompt = "You work hard."
    agent.save()
    third = start(agent=agent, by=boss, inputs=GOOD)

    assert first.version == second.version
    assert (third.version.number, third.version.config["prompt"]) == (
        2,
        "You work hard.",
    )


def test_a_local_model_may_be_free(boss):
    Price.objects.create(model="local", input=0, output=0)
    policy.forget()
    local = Agent.objects.create(slug="c", name="L", prompt="You work.", model="local")

    assert start(agent=local, by=boss, task="Work").limits["money"] == "0.50"


def test_a_cancelled_run_ends_and_says_so(agent, boss, caplog):
    run = start(agent=agent, by=boss, inputs=GOOD)
    told: list[RunChange] = []

    def hear(sender, change, **_):
        told.append(change)

    run_changed.connect(hear)
    services.cancel(run.pk, by=boss, reason="Not needed.")
    run_changed.disconnect(hear)

    run.refresh_from_db()
    move = run.transitions.get()
    assert (run.state, run.wake_at, run.lease_owner) == ("aborted", None, "")
    assert (move.reason, move.by, move.actor) == ("Not needed.", boss, "boss")
    assert [(change.to_state, change.by) for change in told] == [("aborted", boss.pk)]
    assert "boss aborted the run" in caplog.messages


@pytest.mark.parametrize("state", ["completed", "aborted", "error", "completing"])
def test_what_has_ended_is_not_cancelled(boss, state):
    is_final = state != "completing"
    run = make_run()
    Run.objects.filter(pk=run.pk).update(
        state=state, finished_at=run.created_at if is_final else None
    )

    with pytest.raises(Stale):
        services.cancel(run.pk, by=boss, reason="Stop.")


def test_a_run_that_a_driver_holds_can_be_cancelled(boss):
    plain = Agent.objects.create(
        slug="d", name="P", prompt="You work.", plan_first=False
    )
    run = start(agent=plain, by=boss, task="Work")
    with provider(text("Done.")):
        run = advance(run, steps=0)

    services.cancel(run.pk, by=boss, reason="Stop.")

    run.refresh_from_db()
    assert (run.state, run.lease_owner) == ("aborted", "")


def test_a_stranger_does_not_abort_a_run():
    run = factory.make_run()

    with pytest.raises(NotPermitted):
        services.cancel(
            run.pk, by=factory.make_user("", "submitters"), reason="Mine is urgent."
        )

    run.refresh_from_db()
    assert run.state == "executing"


def test_an_operator_of_other_agents_does_not_abort_a_run():
    agent = factory.make_agent()
    agent.deciders.add(factory.make_user("", "admins").groups.get())
    run = factory.make_run(agent)

    with pytest.raises(NotPermitted):
        services.cancel(run.pk, by=factory.make_user("", "operators"), reason="Enough.")


@pytest.mark.parametrize("group", ["operators", "admins"])
def test_who_answers_for_the_agent_aborts_its_runs(group):
    run = factory.make_run()

    services.cancel(run.pk, by=factory.make_user("", group), reason="Enough.")

    run.refresh_from_db()
    assert run.state == "aborted"
