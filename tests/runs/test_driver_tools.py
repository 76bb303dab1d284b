"""Tools that hang hold up their own runs and nobody else's, in the real driver."""

from __future__ import annotations

import itertools
import threading

import pytest
from django.contrib.auth.models import User

from runs import engine, policy
from runs.models import Run
from runs.services import start
from runs.tools import asking, registry
from runs.tools.base import Effect, tool
from tests.flows.conftest import make_agent
from tests.support import acts
from tests.support.advance import park_of, provider
from tests.support.driving import drive
from tests.support.replies import calls, text

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("quick_driver"),
]

released = threading.Event()


@tool(effect=Effect.READ)
def hang() -> str:
    """Wait for somebody who does not come."""
    released.wait(60)
    return "late"


def _endless(*given):
    for _ in itertools.count():
        pass


@tool(effect=Effect.READ, effect_of=_endless)
def undecided() -> str:
    """Never know its own effect."""
    return "never"


@pytest.fixture(autouse=True)
def tools():
    released.clear()
    policy.forget()
    with registry.added(hang, undecided, *acts.ALL):
        yield
    released.set()


@pytest.fixture
def begin():
    names = [hang.name, undecided.name, acts.echo.name]
    agent = make_agent(grants={name: {"policy": "auto"} for name in names})
    boss = User.objects.create_superuser("boss")
    return lambda name: start(agent=agent, by=boss, task=name)


def _answered(body):
    """Call the tool that the task names, then be done."""
    messages = body["messages"]
    if messages[-1]["role"] == "tool":
        return text("Done.")
    task = next(m["content"] for m in messages if m["role"] == "user")
    name = next(n for n in (hang.name, undecided.name, acts.echo.name) if n in task)
    return calls((name, {"text": "x"} if name == acts.echo.name else {}))


def states(*runs: Run) -> list[str]:
    return [Run.objects.get(pk=run.pk).state for run in runs]


def test_t04_fifty_calls_that_hang_hold_up_no_other_run(begin, configured):
    configured(threads=100)
    hanging = [begin(hang.name) for _ in range(50)]
    other = begin(acts.echo.name)

    def is_done():
        done = states(other) == ["completed"]
        if done:
            released.set()
        return done

    with provider(then=_answered):
        drive(engine, until=is_done, within_s=60)

    assert "completed" not in states(*hanging)


def test_t04_a_tool_that_cannot_decide_holds_up_no_other_run(begin, monkeypatch):
    monkeypatch.setattr(asking, "ANSWER_S", 0.3)
    lost = [begin(undecided.name) for _ in range(3)]
    other = begin(acts.echo.name)

    with provider(then=_answered):
        drive(engine, within_s=60)

    assert states(other, *lost) == ["completed", *["awaiting_human"] * 3]
    assert "no answer within" in park_of(Run.objects.get(pk=lost[0].pk))["question"]
