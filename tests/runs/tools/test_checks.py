"""What is wrong with tools is told at the start."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import run_checks

from runs.tools import registry
from runs.tools.base import Effect, tool

pytestmark = pytest.mark.once


def found() -> list[str]:
    return [
        str(message.id) for message in run_checks() if str(message.id)[:4] == "runs"
    ]


def test_nothing_is_wrong_as_it_is_shipped() -> None:
    assert found() == []


def test_two_tools_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool(effect=Effect.READ, name="calculate")
    def other() -> None:
        """Calculate otherwise."""

    monkeypatch.setattr(registry, "_specs", {"calculate": other})
    monkeypatch.setattr(registry, "_discovered", False)

    assert found() == ["runs.E001"]


def test_a_finder_of_mail_that_does_not_exist(settings: Any) -> None:
    settings.AGENTOPS_MAIL_FINDERS = {"some.Backend": "no.such.function"}

    assert found() == ["runs.E002"]


@pytest.mark.parametrize("name", ["default", "sqlite:////srv/own.sqlite3"])
def test_agents_that_read_the_products_own_database(name: str, settings: Any) -> None:
    settings.DATABASE_URL = "sqlite:////srv/own.sqlite3"
    settings.AGENTOPS_TOOL_DATABASE_URL = name

    assert found() == ["runs.W001"]
