"""The sample agents and their database, put in place once."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest
from django.core.management import call_command

from reviews.samples import AGENTS, TABLES, install, make
from runs.agents import publish
from runs.models import Agent
from runs.tools import registry
from runs.values import AgentConfig
from tests.support import databases


@pytest.fixture(autouse=True)
def no_database_of_tools(settings: Any) -> None:
    settings.AGENTOPS_TOOL_DATABASE_URL = ""


def revenue(path: Path) -> list[tuple[str, int]]:
    statement = (
        "SELECT month, revenue FROM monthly_revenue"
        " WHERE region = 'North America' AND month BETWEEN '2024-07' AND '2024-09'"
        " ORDER BY month"
    )
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.execute(statement))


@pytest.mark.django_db
def test_it_publishes_every_agent(tmp_path: Path) -> None:
    agents = install(tmp_path)

    assert [agent.slug for agent in agents] == [data["slug"] for data in AGENTS]
    for agent in agents:
        config = AgentConfig.of(agent.versions.get().config)
        known = {spec.name for spec in registry.all_specs()}
        assert set(config.grants) <= known
        database = config.grants["query_database"].settings["database"]
        assert database == f"sqlite:///{tmp_path}/samples.sqlite3"


@pytest.mark.django_db
def test_it_fills_the_database(tmp_path: Path) -> None:
    install(tmp_path)

    assert revenue(tmp_path / "samples.sqlite3") == [
        ("2024-07", 1_250_000),
        ("2024-08", 1_380_000),
        ("2024-09", 1_895_000),
    ]


@pytest.mark.django_db
def test_a_second_time_changes_nothing(tmp_path: Path) -> None:
    install(tmp_path)
    Agent.objects.filter(slug="quarterly-metrics").update(prompt="Mine.")
    with closing(sqlite3.connect(tmp_path / "samples.sqlite3")) as connection:
        connection.execute("UPDATE monthly_revenue SET revenue = 7")
        connection.commit()

    install(tmp_path)

    agent = Agent.objects.get(slug="quarterly-metrics")
    assert agent.prompt == "Mine."
    assert agent.versions.count() == 1
    assert {figure for _, figure in revenue(tmp_path / "samples.sqlite3")} == {7}


@pytest.mark.django_db
def test_the_database_of_the_tools_comes_first(tmp_path: Path, settings: Any) -> None:
    settings.AGENTOPS_TOOL_DATABASE_URL = f"sqlite:///{tmp_path}/tools.sqlite3"

    (agent, *_) = install(tmp_path)

    assert len(revenue(tmp_path / "tools.sqlite3")) == 3
    assert "settings" not in agent.grants["query_database"]


@pytest.mark.postgres
def test_it_makes_the_tables_on_postgresql(tmp_path: Path) -> None:
    with databases.fresh(tmp_path) as url:
        make(url)
        make(url)

        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT count(*) FROM monthly_revenue")
            assert found.fetchone() == (len(TABLES["monthly_revenue"].rows),)


@pytest.mark.parametrize("data", AGENTS, ids=lambda data: str(data["slug"]))
def test_the_forms_defaults_fit_their_schema(data: dict[str, Any]) -> None:
    schema = data["input_schema"]
    defaults = {n: part["default"] for n, part in schema["properties"].items()}

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(defaults, schema)

    assert "{" not in data["task_template"].format(**defaults)


@pytest.mark.django_db
def test_a_sample_read_back_is_still_its_first_version(tmp_path: Path) -> None:
    install(tmp_path)

    numbers = {publish(agent, by=None).number for agent in Agent.objects.all()}

    assert numbers == {1}


@pytest.mark.django_db
def test_the_command_names_what_it_installed(
    settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.VAR_DIR = tmp_path

    call_command("samples")

    assert "quarterly-metrics: Quarterly metrics" in capsys.readouterr().out
