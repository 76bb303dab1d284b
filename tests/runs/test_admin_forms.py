"""What admins enter is checked before it counts, with words beside the field."""

from __future__ import annotations

import json

import pytest

from runs.models import Agent, Price, Tool
from runs.tool_rows import sync_tools
from tests.runs.admin import agent_form, errors, url

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("letters")]


@pytest.mark.parametrize("text", ["[" * 20_000, "9" * 5000])
def test_json_that_nobody_can_read_is_refused(admin_client, text):
    response = admin_client.post(url(Agent, "add"), agent_form(grants=text))

    assert response.status_code == 200
    assert "grants" in errors(response)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("grants", '{"fly": {}}', "no tool called fly"),
        ("grants", '{"post_letter": {"policy": "maybe"}}', "policy must be one of"),
        ("grants", '{"post_letter": {"threshold": 2}}', "from 0 to 1"),
        ("grants", '{"post_letter": {"threshold": "NaN"}}', "from 0 to 1"),
        ("grants", '{"post_letter": {"treshold": 0.5}}', "no setting treshold"),
        ("grants", '{"post_letter": {"settings": []}}', "settings must be an object"),
        ("grants", '{"post_letter": "always"}', "must be an object"),
        ("grants", "[]", "must be an object"),
        ("grants", "{", "valid JSON"),
        ("review_when", '["", "x"]', "list of rules"),
        ("review_when", '"x"', "list of rules"),
        ("limits", '{"steps": 0}', "more than 0"),
        ("limits", '{"money": "-1"}', "more than 0"),
        ("limits", '{"wishes": 3}', "no budget called wishes"),
        ("limits", "[]", "object of budgets"),
        ("input_schema", "[]", "JSON Schema"),
        ("input_schema", '{"type": "object", "properties": 3}', "no JSON Schema"),
        ("threshold", "1.5", "less than or equal to 1"),
        ("max_output_tokens", "0", "more than 0"),
        ("context_window", "100", "more than the longest output"),
        ("prompt", "x" * 100_001, "at most 100000 characters (it has 100001)"),
        ("task_template", "x" * 20_001, "at most 20000 characters"),
        ("description", "x" * 2_001, "at most 2000 characters"),
        ("grants", "x" * 100_001, "at most 100000 characters"),
        ("limits", " " * 100_001, "at most 100000 characters"),
        ("input_schema", '{"title": "' + "x" * 100_000, "at most 100000 characters"),
        ("review_when", json.dumps(["x", "x" * 501]), "Rule 2 has 501 characters"),
        ("review_when", json.dumps(["x"] * 51), "51 rules, at most 50"),
    ],
    ids=lambda value: value[:20],
)
def test_an_agent_that_could_not_work_is_refused(admin_client, field, value, words):
    response = admin_client.post(url(Agent, "add"), agent_form(**{field: value}))

    assert response.status_code == 200
    assert words in errors(response)[field]
    assert Agent.objects.count() == 0


def test_an_agent_may_have_long_texts(admin_client):
    longest = {
        "prompt": "x" * 100_000,
        "task_template": "x" * 20_000,
        "description": "x" * 2_000,
        "review_when": json.dumps(["x" * 500] * 50),
    }

    response = admin_client.post(url(Agent, "add"), agent_form(**longest))

    assert response.status_code == 302, errors(response)
    assert len(Agent.objects.get().prompt) == 100_000


def test_the_task_names_only_fields_of_the_form(admin_client):
    schema = {"type": "object", "properties": {"quarter": {"type": "string"}}}
    fields = {"input_schema": json.dumps(schema), "task_template": "{quarter} {year}"}

    response = admin_client.post(url(Agent, "add"), agent_form(**fields))

    assert "called year" in errors(response)["task_template"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("timeout_s", "0"), ("attempts", "0"), ("threshold", "2")],
        *[("settings", "[1]"), ("settings", json.dumps({"a": "x" * 100_000}))],
    ],
    ids=lambda value: value[:20],
)
def test_a_tool_keeps_to_bounds(admin_client, field, value):
    sync_tools()

    response = admin_client.post(
        url(Tool, "change", "post_letter"), {"enabled": "on", field: value}
    )

    assert field in errors(response)


def test_a_setting_that_its_tool_does_not_know_is_refused(admin_client):
    sync_tools()
    change = url(Tool, "change", "send_email")
    misspelt = '{"allow_domain": ["company.com"]}'

    response = admin_client.post(change, {"enabled": "on", "settings": misspelt})

    assert "settings" in errors(response)


def test_a_price_may_be_nothing_but_not_less(admin_client):
    row = {"model": "local", "input": "0", "cached": "", "output": "0"}

    admin_client.post(url(Price, "add"), row)
    response = admin_client.post(url(Price, "add"), row | {"model": "x", "input": "-1"})

    assert Price.objects.get().model == "local"
    assert "input" in errors(response)
