"""The agent of the flows, with a few more tools."""

from __future__ import annotations

import pytest

from runs.errors import InvalidCall
from runs.tools import registry
from runs.tools.base import Effect, tool
from tests.flows.conftest import _test_tools, boss, make_agent  # noqa: F401
from tests.support import acts


@tool(effect=Effect.READ)
def ping() -> str:
    """Answer."""
    return "pong"


@tool(effect=Effect.READ)
def odd(kind: str) -> object:
    """Return what no database likes."""
    deep: object = []
    for _ in range(3000):
        deep = [deep]
    return {
        "nan": {"value": float("nan"), "most": float("inf")},
        "nul": "a\x00b \ud800",
        "deep": deep,
        "long": "x" * 2_000_000,
        "digits": 10**5000,
    }[kind]


@tool(effect=Effect.READ)
def picky(text: str) -> str:
    """Refuse."""
    raise InvalidCall("not like that")


MORE = (ping, odd, picky)


@pytest.fixture(autouse=True)
def _more_tools(_test_tools):  # noqa: F811
    with registry.added(*MORE):
        yield


def case_agent(**fields):
    names = [spec.name for spec in (*acts.ALL, *MORE)] + ["ask_human"]
    grants = {name: {"policy": "ask_below"} for name in names}
    return make_agent(**{"grants": grants} | fields)


@pytest.fixture
def agent(db):
    return case_agent()


@pytest.fixture
def run(agent, boss):  # noqa: F811
    from runs.services import start

    return start(agent=agent, by=boss, task="Do the work")
