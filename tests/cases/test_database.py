"""Cases D: transactions, connections, and results that come too late."""

from __future__ import annotations

import os

import psycopg
import pytest
from django.db import DatabaseError, connection, connections

from runs import engine, services
from runs.errors import InvalidCall, LeaseLost
from runs.models import Effect, Step, Transition
from runs.services import start
from runs.signals import run_changed
from runs.tools import registry
from runs.tools.base import Effect as Kind
from runs.tools.base import tool
from runs.work import Work
from tests.cases.conftest import case_agent
from tests.support import databases
from tests.support.acts import acts
from tests.support.advance import OWNER, provider, settle, take
from tests.support.driving import drive
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db(transaction=True)

LETTER = calls(("post", {"what": "x"}))


def test_d02_no_transaction_is_open_while_a_model_or_tool_is_asked(boss):
    ours, seen = connections["default"], []

    @tool(effect=Kind.IRREVERSIBLE)
    def look(what: str) -> str:
        """Look whether a transaction is open."""
        seen.append(ours.in_atomic_block)
        return what

    def answer(body):
        seen.append(ours.in_atomic_block)
        return (
            text("Done.")
            if len(body["messages"]) > 2
            else calls(("look", {"what": "x"}))
        )

    with registry.added(look), provider(answer, check(0.9), answer):
        agent = case_agent(grants={"look": {"policy": "ask_below"}})
        run = settle(start(agent=agent, by=boss, task="Work"))

    assert run.state == "completed"
    assert seen == [False, False, False]


@pytest.mark.postgres
def test_d02_the_server_sees_nothing_idle_in_a_transaction(boss):
    idle = []

    def answer(body):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                " current_database() AND state = 'idle in transaction'"
            )
            idle.append(cursor.fetchone()[0])
        return text("Done.")

    with provider(answer):
        run = settle(start(agent=case_agent(), by=boss, task="Work"))

    assert (run.state, idle) == ("completed", [0])


def test_d02_the_answer_is_saved_on_a_fresh_connection(boss):
    def answer(body):
        connection.close()
        return text("Done.")

    with provider(answer):
        run = settle(start(agent=case_agent(), by=boss, task="Work"))

    assert run.state == "completed"


@pytest.mark.postgres
def test_d02_an_answer_is_saved_though_the_server_closed_the_connection(boss):
    def answer(body):
        with psycopg.connect(os.environ[databases.ENVIRONMENT]) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = %s",
                [connection.settings_dict["NAME"]],
            )
        return text("Done.")

    run = start(agent=case_agent(), by=boss, task="Work")
    with provider(answer) as model:
        drive(engine)

    run.refresh_from_db()
    assert (run.state, run.output, len(model.requests)) == ("completed", "Done.", 1)


@pytest.mark.parametrize("fails", [False, True])
def test_d11_a_result_that_comes_after_the_abort_is_kept_and_no_more(boss, fails):
    @tool(effect=Kind.IRREVERSIBLE)
    def slow(what: str) -> str:
        """Take so long that somebody cancels the run."""
        services.cancel(run.pk, by=boss, reason="Too slow.")
        if fails:
            raise InvalidCall("no such street")
        return "sent"

    with (
        registry.added(slow),
        provider(calls(("slow", {"what": "x"})), check(0.9)) as m,
    ):
        agent = case_agent(grants={"slow": {"policy": "ask_below"}})
        run = start(agent=agent, by=boss, task="Work")
        with pytest.raises(LeaseLost):
            settle(run)

    run.refresh_from_db()
    step, effect = Step.objects.get(kind="tool"), Effect.objects.get()
    assert (run.state, run.wake_at) == ("aborted", None)
    assert len(m.requests) == 2
    if fails:
        assert (step.status, effect.status) == ("failed", "not_done")
    else:
        assert (step.status, effect.status, effect.result) == (
            "succeeded",
            "done",
            "sent",
        )


def refusing(sender, **_):
    """What a database says to a row that it does not take."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM there_is_no_such_table")


def test_d13_a_row_that_is_refused_leaves_the_run_as_it_was(boss):
    run = start(agent=case_agent(), by=boss, task="Work")
    run_changed.connect(refusing)
    try:
        with provider(text("Done.")), pytest.raises(DatabaseError):
            settle(run)
    finally:
        run_changed.disconnect(refusing)
    run.refresh_from_db()
    before = (run.state, run.sequence, Transition.objects.count())

    with provider(text("Done.")):
        run = settle(run)

    assert before == ("executing", 1, 1)
    assert run.state == "completed"
    assert not connection.in_atomic_block


def test_d13_an_act_whose_record_was_refused_is_not_repeated(boss):
    run = start(agent=case_agent(), by=boss, task="Work")

    with provider(LETTER, check(0.9)):
        take(run)
        held = engine.open(run.pk, OWNER)
        following = engine.proceed(held)
        while isinstance(following, Work) and not following.is_irreversible:
            following = engine.record(held, following.perform())
        following = engine.begin(held, following)  # type: ignore[arg-type]
        following.perform()  # type: ignore[union-attr]
        run = settle(run)

    assert (run.park_reason, len(acts())) == ("outcome_unknown", 1)
