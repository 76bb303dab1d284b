"""The form of a task comes from the agent's schema and keeps its types."""

from __future__ import annotations

import pytest

from runs.errors import BadInput
from runs.forms import TaskForm, field_of
from runs.models import Agent

SCHEMA = {
    "type": "object",
    "required": ["quarter", "to", "limit"],
    "properties": {
        "quarter": {"enum": ["Q3 2024", "Q2 2024"], "default": "Q3 2024"},
        "to": {"type": "string", "format": "email", "title": "Send it to"},
        "limit": {"type": "integer", "minimum": 0, "maximum": 100, "default": 30},
        "factor": {"type": "number"},
        "since": {"type": "string", "format": "date"},
        "loud": {"type": "boolean"},
        "more": {"type": "string", "format": "textarea", "description": "<b>Any</b>"},
    },
}
FILLED = {
    "inputs.quarter": "Q2 2024",
    "inputs.to": "analytics@example.com",
    "inputs.limit": "40",
    "inputs.factor": "0.5",
    "inputs.since": "2024-07-01",
    "inputs.loud": "on",
    "key": "abc",
}


@pytest.fixture
def agent() -> Agent:
    return Agent(
        slug="metrics", name="Metrics", input_schema=SCHEMA, task_template="{quarter}"
    )


def test_it_keeps_the_types_of_the_schema(agent):
    form = TaskForm(agent, FILLED)

    assert form.is_valid(), form.errors
    assert form.inputs == {
        "quarter": "Q2 2024",
        "to": "analytics@example.com",
        "limit": 40,
        "factor": 0.5,
        "since": "2024-07-01",
        "loud": True,
    }


def test_it_leaves_out_what_was_left_empty(agent):
    form = TaskForm(agent, FILLED | {"inputs.factor": "", "inputs.since": ""})

    assert form.is_valid()
    assert set(form.inputs) == {"quarter", "to", "limit", "loud"}


def test_it_says_beside_each_field_what_is_wrong(agent):
    form = TaskForm(agent, FILLED | {"inputs.to": "nobody", "inputs.limit": "101"})

    assert not form.is_valid()
    assert set(form.errors) == {"inputs.to", "inputs.limit"}


def test_it_puts_what_the_service_refuses_beside_its_field(agent):
    form = TaskForm(agent, FILLED)
    form.is_valid()

    form.refuse(BadInput({"limits.money": "No price.", "inputs": "Odd."}))

    assert form.errors["limits.money"] == ["No price."]
    assert form.non_field_errors() == ["Odd."]


def test_it_shows_defaults_and_what_a_run_had_before(agent):
    form = TaskForm(agent, initial_inputs={"limit": 12})

    assert form["inputs.limit"].value() == 12
    assert form["inputs.quarter"].value() == "Q3 2024"


def test_only_budgets_that_differ_from_the_usual_are_given_on(agent):
    agent.limits = {"steps": 20, "money": "0.50"}
    form = TaskForm(agent, FILLED | {"limits.steps": "20", "limits.money": "0.75"})

    assert form.is_valid()
    assert form.limits == {"money": "0.75"}


def test_line_ends_and_whole_numbers_are_given_on_plainly(agent):
    odd = {"task": "One\r\nTwo", "inputs.factor": "30.0", "inputs.more": "a\r\nb"}
    form = TaskForm(agent, FILLED | odd)

    assert form.is_valid()
    assert form.task == "One\nTwo"
    assert form.inputs["more"] == "a\nb"
    assert str(form.inputs["factor"]) == "30"


def test_an_agent_without_a_template_needs_a_task():
    form = TaskForm(Agent(slug="free", name="Free"), {"task": " "})

    assert not form.is_valid()
    assert "task" in form.errors


def test_a_description_is_text_and_never_markup():
    field = field_of("more", {"description": "<b>Any</b>"}, is_required=False)

    assert field.help_text == "&lt;b&gt;Any&lt;/b&gt;"


LISTS = {
    "type": "object",
    "properties": {
        "ids": {"type": "array", "items": {"type": "integer"}},
        "about": {"type": "object"},
    },
}


def test_lists_and_objects_are_entered_as_json():
    agent = Agent(slug="lists", name="Lists", input_schema=LISTS)

    form = TaskForm(
        agent, {"inputs.ids": "[1, 2]", "inputs.about": '{"a": "ä"}', "task": "Go"}
    )

    assert form.is_valid(), form.errors
    assert form.inputs == {"ids": [1, 2], "about": {"a": "ä"}}


@pytest.mark.parametrize("entered", ["[1,", "[NaN]", "[" * 3000])
def test_what_is_no_json_is_said_beside_its_field(entered):
    agent = Agent(slug="lists", name="Lists", input_schema=LISTS)

    form = TaskForm(agent, {"inputs.ids": entered, "task": "Go"})

    assert "This is not JSON" in form.errors["inputs.ids"][0]
    assert entered[:4] in str(form["inputs.ids"])


def test_a_list_of_a_run_before_is_shown_as_json():
    agent = Agent(slug="lists", name="Lists", input_schema=LISTS)

    form = TaskForm(agent, initial_inputs={"ids": [1]})

    assert form["inputs.ids"].value() == "[\n  1\n]"
