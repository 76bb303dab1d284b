"""A setting that a tool does not know stops it: a misspelt rule does not hold."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail

from runs.admin_forms import grant_problems
from runs.errors import Fatal
from runs.tools import registry
from runs.tools.choices import problems
from runs.tools.perform import perform
from tests.runs.tools.calls import context
from tests.runs.tools.letters import CALL

pytestmark = pytest.mark.once

WRONG: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("send_email", CALL, {"allow_domain": ["company.com"]}),
    ("send_email", CALL, {"allow_domains": "company.com"}),
    ("http_request", {"method": "GET", "url": "http://a.example"}, {"allow_host": []}),
    ("http_request", {"method": "GET", "url": "http://a.example"}, {"max_bytes": 0}),
    ("query_database", {"sql": "SELECT 1"}, {"max_rows": "7"}),
    ("query_database", {"sql": "SELECT 1"}, {"may_write": "yes"}),
]


@pytest.mark.parametrize(("name", "arguments", "settings"), WRONG)
def test_a_wrong_setting_stops_the_call(
    name: str, arguments: dict[str, Any], settings: dict[str, Any]
) -> None:
    (setting,) = settings

    with pytest.raises(Fatal, match=f"settings of {name} are wrong: {setting}"):
        perform(registry.get(name), arguments, context(settings=settings))

    assert mail.outbox == []


@pytest.mark.parametrize(("name", "arguments", "settings"), WRONG)
def test_a_wrong_setting_is_refused_in_an_agents_grants(
    name: str, arguments: dict[str, Any], settings: dict[str, Any]
) -> None:
    (setting,) = settings

    (problem,) = grant_problems({name: {"settings": settings}})

    assert problem.startswith(f"{name}: {setting}: ")


def test_a_tool_that_names_none_takes_any() -> None:
    assert problems(None, {"whatever": 1}) == []
