"""The code changes while runs are parked and in flight: they go on, or say why not."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from reviews.models import Review
from reviews.services import decide
from reviews.stale import StaleReview
from runs import policy
from runs.models import Agent, Effect
from runs.services import start
from runs.tools import registry
from runs.tools.base import Effect as Does
from runs.tools.base import ToolSpec, tool
from runs.values import VerdictKind
from tests.flows.conftest import _test_tools, boss  # noqa: F401
from tests.flows.conftest import decide as decide_run
from tests.support import acts
from tests.support.advance import advance, park_of, provider, release, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

V = VerdictKind
NOTE = calls(("note", {"what": "x"}))


@tool(effect=Does.READ)
def note(what: str) -> str:
    """Look at a note."""
    return f"read {what}"


@tool(effect=Does.IRREVERSIBLE, name="note")
def sent_note(what: str) -> str:
    """Send a note."""
    acts.write("note", what, "")
    return "sent"


@tool(effect=Does.READ, name="note")
def addressed_note(what: str, to: str) -> str:
    """Look at a note to somebody."""
    return f"read {what} to {to}"


class Code:
    """The tools that are installed at the moment."""

    def __init__(self) -> None:
        self._installed = ExitStack()

    def is_now(self, *specs: ToolSpec) -> None:
        self._installed.close()
        self._installed.enter_context(registry.added(*specs))
        policy.forget()


@pytest.fixture(autouse=True)
def code():
    code = Code()
    code.is_now(note)
    yield code
    code.is_now()


def begin(boss, grant):  # noqa: F811
    """A run that asks for the note; taken to its rest, or to before the call."""
    fields = {"name": grant, "prompt": "Go.", "plan_first": False}
    grants = {"note": {"policy": grant}}
    agent = Agent.objects.create(slug=grant, grants=grants, **fields)
    run = start(agent=agent, by=boss, task="Note it")
    with provider(NOTE):
        advance(run, steps=1)
    release(run)
    run.refresh_from_db()
    return run


@pytest.fixture
def planned(boss):  # noqa: F811
    """The worker was stopped right before the call."""
    return begin(boss, "ask_below")


@pytest.fixture
def asked(boss):  # noqa: F811
    """A person is asked about the call."""
    return begin(boss, "always")


def approve(run) -> Review:
    review = Review.objects.open().get(run=run)
    ana = User.objects.filter(username="ana").first()
    decide(
        review.pk,
        by=ana or User.objects.create_superuser("ana"),
        kind="approve",
        item_version=review.version,
        digest=review.digest,
    )
    return review


def test_a_planned_call_goes_on_with_the_same_tool(planned):
    with provider(text("Done.")):
        done = settle(planned)

    assert done.state == "completed"


def test_a_planned_call_that_no_longer_fits_is_told_to_the_model(planned, code):
    fitting = calls(("note", {"what": "x", "to": "ana"}))
    code.is_now(addressed_note)
    with provider(fitting, text("Done.")) as model:
        done = settle(planned)

    assert done.state == "completed"
    assert "do not fit" in model.requests[0].tool_results[0]


def test_a_planned_call_of_a_tool_that_is_gone_parks_and_says_so(planned, code):
    code.is_now()

    parked = settle(planned)

    assert parked.state == "awaiting_human"
    assert "note" in park_of(parked)["question"]


def test_a_planned_read_is_not_made_by_a_tool_that_acts_now(planned, code):
    code.is_now(sent_note)

    parked = settle(planned)

    assert (parked.park_reason, acts.acts()) == ("fatal", [])
    assert "cannot be undone" in park_of(parked)["question"]


def test_a_retry_takes_it_through_the_gates(planned, boss, code):  # noqa: F811
    code.is_now(sent_note)
    with provider(check(0.2)):
        settle(planned)
        decide_run(planned, boss, V.RETRY)
        parked = settle(planned)

    assert (parked.park_reason, acts.acts()) == ("low_confidence", [])


def test_what_was_asked_of_a_read_is_shown_anew_once_it_acts(asked, code):
    code.is_now(sent_note)

    with pytest.raises(StaleReview, match="effect"):
        approve(asked)
    approve(asked)
    with provider(text("Done.")):
        done = settle(asked)

    assert (done.state, len(acts.acts())) == ("completed", 1)
    assert Effect.objects.get().status == "done"


def test_what_was_asked_of_other_parameters_is_shown_anew(asked, code):
    code.is_now(addressed_note)

    with pytest.raises(StaleReview, match="schema"):
        approve(asked)

    asked.refresh_from_db()
    assert asked.state == "awaiting_human"


def test_what_was_asked_of_a_tool_that_is_gone_cannot_be_approved(asked, code):
    code.is_now()

    with pytest.raises(StaleReview, match="may not be used any more"):
        approve(asked)


def test_a_run_keeps_the_agent_it_began_with(planned):
    Agent.objects.update(prompt="Do nothing.", grants={}, model="gpt-5")

    with provider(text("Done.")) as model:
        done = settle(planned)

    assert (done.state, done.version.number) == ("completed", 1)
    assert model.requests[0].messages[0]["content"].startswith("Go.")
    assert model.requests[0].body["model"] != "gpt-5"


@pytest.mark.django_db(transaction=True)
def test_a_migration_comes_between(planned, asked):
    """Rows without what it adds are those that the older code has left."""
    executor = MigrationExecutor(connection)
    newest = executor.loader.graph.leaf_nodes("runs")
    executor.migrate([("runs", "0006_forks")])
    MigrationExecutor(connection).migrate(newest)

    approve(asked)
    for run in (planned, asked):
        with provider(text("Done.")):
            assert settle(run).state == "completed"
