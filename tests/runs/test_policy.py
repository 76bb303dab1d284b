"""What an agent may use at this moment: the stricter of its grant and the tool."""

from __future__ import annotations

from decimal import Decimal

import pytest

from runs import policy
from runs.models import Tool
from runs.values import AgentConfig, Policy
from tests.support.planning import CONFIG

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _forget():
    policy.forget()
    yield
    policy.forget()


def offered(**grant):
    config = AgentConfig.of(CONFIG | {"grants": {"send_email": grant, "gone": {}}})
    return policy.read().toolbox(config).tools["send_email"]


@pytest.mark.parametrize(
    ("row", "grant", "holds"),
    [
        ({}, "auto", Policy.AUTO),
        ({"policy": "always"}, "auto", Policy.ALWAYS),
        ({"policy": "auto"}, "always", Policy.ALWAYS),
        ({"policy": "ask_below"}, "auto", Policy.ASK_BELOW),
        ({"enabled": False, "policy": "auto"}, "auto", Policy.BLOCKED),
        ({"policy": "blocked"}, "auto", Policy.BLOCKED),
    ],
)
def test_the_stricter_policy_holds(row, grant, holds):
    Tool.objects.update_or_create(name="send_email", defaults=row)

    assert offered(policy=grant).policy is holds


@pytest.mark.parametrize(
    ("row", "grant", "holds"),
    [
        (None, None, "0.75"),
        (None, 0.9, "0.9"),
        ("0.8", None, "0.8"),
        ("0.5", 0.9, "0.9"),
    ],
)
def test_the_higher_threshold_holds(row, grant, holds):
    Tool.objects.update_or_create(name="send_email", defaults={"threshold": row})

    assert offered(threshold=grant).threshold == Decimal(holds)


def test_a_grant_lays_its_settings_over_those_of_the_tool():
    settings = {"a": 1, "b": 2}
    Tool.objects.update_or_create(name="send_email", defaults={"settings": settings})

    assert offered(settings={"b": 3}).settings == {"a": 1, "b": 3}


def test_a_tool_that_is_not_installed_is_not_offered():
    config = AgentConfig.of(CONFIG | {"grants": {"gone": {}}})

    assert policy.read().toolbox(config).allowed == []


def test_the_tables_are_read_at_most_once_a_second(django_assert_num_queries):
    policy.live()

    with django_assert_num_queries(0):
        assert policy.live() is policy.live()
