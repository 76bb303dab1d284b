"""Any JSON at any place of a reply: the run ends or parks, and nothing escapes."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runs.services import start
from tests.cases.conftest import case_agent
from tests.cases.playing import DONE
from tests.support.acts import acts
from tests.support.advance import provider, settle
from tests.support.replies import calls, check, json_body, text

pytestmark = pytest.mark.django_db

EXAMPLES = 25

REPLY = {
    "id": "r1",
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "I will.",
                "refusal": None,
                "reasoning_content": "Hm.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "echo", "arguments": '{"text": "x"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "ping", "arguments": {}},
                    },
                ],
            },
        }
    ],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 10},
    },
}


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value within."""
    if not isinstance(value, dict | list):
        return [at]
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return [at] + [way for key, part in parts for way in places(part, (*at, key))]


def with_value(way: tuple[Any, ...], value: Any) -> Any:
    if not way:
        return value
    reply = copy.deepcopy(REPLY)
    part: Any = reply
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = value
    return reply


WORDS = [
    "",
    "\x00",
    "\ud800",
    "stop",
    "echo",
    "post",
    "c1",
    "{}",
    '{"text":"x"}',
    "9" * 99,
]
KEYS = sorted({str(key) for way in places(REPLY) for key in way} | {"error", "text"})
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(WORDS)
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=8,
)


some = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def rests(agent, boss, *script):
    """The run at its end or park; nothing of it stays in the database."""
    with transaction.atomic():
        run = start(agent=agent, by=boss, task="Work")
        with provider(*script, then=DONE):
            run = settle(run)

        assert run.state in {"completed", "awaiting_human"}
        transaction.set_rollback(True)
    return run


@some
@given(way=st.sampled_from(places(REPLY)), value=anything)
def test_whatever_a_reply_holds_its_run_ends_or_parks(agent, boss, way, value):
    rests(agent, boss, json_body(with_value(way, value)))


LETTER = calls(("post", {"what": "x"}))
CHECK = json.loads(json.loads(check(0.9).body)["choices"][0]["message"]["content"])


@some
@given(name=st.sampled_from([*CHECK, "more"]), value=anything)
def test_c01_whatever_a_check_says_nothing_runs_that_it_does_not_let_through(
    agent, boss, name, value
):
    before = len(acts())

    run = rests(agent, boss, LETTER, text(json.dumps(CHECK | {name: value})))

    ran = len(acts()) - before
    assert ran == (run.state == "completed")
    if ran and name == "confidence":
        assert not isinstance(value, bool)
        assert 0.75 <= value <= 1


@some
@given(value=anything)
def test_whatever_a_plan_says_its_run_ends_or_parks(planning, boss, value):
    rests(planning, boss, text(json.dumps(value)), text(json.dumps({"items": value})))


@some
@given(status=st.integers(200, 599), value=anything)
def test_a14_whatever_an_endpoint_says_of_an_error_its_run_ends_or_parks(
    agent, boss, status, value
):
    body = value if isinstance(value, list) else {"error": value}

    rests(agent, boss, json_body(body, status))


@pytest.fixture
def planning(db):
    return case_agent(plan_first=True)
