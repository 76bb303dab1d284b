"""Settings in the admin pages neither lose the secrets they have nor gain any."""

from __future__ import annotations

import pytest
from django.urls import reverse

from runs.models import Agent, Tool
from runs.tool_rows import sync_tools
from tests.runs.admin import agent_form, errors

pytestmark = pytest.mark.django_db

HAD = {"database": "postgres://ana:hunter22@db.example/x"}
NEW = '{"database": "postgres://ana:hunter33@other.example/x"}'
REFUSAL = "A secret is not kept here"


@pytest.fixture
def tools():
    sync_tools()
    return Tool.objects.filter(name="query_database")


@pytest.fixture
def change(tools):
    return reverse("admin:runs_tool_change", args=[tools.get().pk])


def test_settings_keep_a_secret_while_something_else_is_changed(
    admin_client, tools, change
):
    tools.update(settings=HAD)
    form = admin_client.get(change).context["adminform"].form

    admin_client.post(change, {"settings": form["settings"].value()})

    assert not tools.get().enabled
    assert tools.get().settings == HAD


@pytest.mark.parametrize("had", [{}, HAD])
def test_a_secret_that_settings_did_not_have_is_refused(
    admin_client, tools, change, had
):
    tools.update(settings=had)

    response = admin_client.post(change, {"settings": NEW})

    assert REFUSAL in errors(response)["settings"]
    assert tools.get().settings == had


def test_grants_of_an_agent_refuse_a_secret_as_well(admin_client):
    grants = f'{{"query_database": {{"settings": {NEW}}}}}'

    response = admin_client.post(
        reverse("admin:runs_agent_add"), agent_form(grants=grants)
    )

    assert REFUSAL in errors(response)["grants"]
    assert not Agent.objects.exists()
