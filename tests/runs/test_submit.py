"""A task from the shell: taken or refused in words, and followed if asked to."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from runs.models import Run
from runs.states import RunState
from tests.support import factory

pytestmark = pytest.mark.django_db

FORM = {
    "type": "object",
    "properties": {
        "quarter": {"type": "string", "enum": ["Q2", "Q3"], "default": "Q3"},
        "limit": {"type": "number", "minimum": 0},
        "years": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["quarter", "limit"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def agent():
    return factory.make_agent(
        slug="reporter",
        model="demo-model",
        check_model="demo-model",
        grants={},
        input_schema=FORM,
        task_template="Report {quarter} above {limit}.",
    )


@pytest.fixture(autouse=True)
def ana():
    return factory.make_user("ana", "submitters")


def submit(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command("submit", *args, stdout=out, **options)
    return out.getvalue()


def refused(*args: str) -> str:
    with pytest.raises(CommandError) as caught:
        submit(*args)
    assert caught.value.returncode == 1
    assert Run.objects.count() == 0
    return str(caught.value)


def test_it_says_the_run_and_its_page():
    said = submit("reporter", "--input", "limit=30", "--as", "ana")

    run = Run.objects.get()
    assert str(run.pk) in said
    assert f"/runs/{run.pk}/" in said
    assert run.submitter.username == "ana"


def test_inputs_have_the_types_of_the_form_and_its_defaults():
    submit("reporter", "--input", "limit=30.5", "years=[2023, 2024]", "--as", "ana")

    run = Run.objects.get()
    assert run.inputs == {"quarter": "Q3", "limit": 30.5, "years": [2023, 2024]}
    assert run.task == "Report Q3 above 30.5."


def test_the_only_person_who_may_is_taken():
    submit("reporter", "--input", "limit=1")

    assert Run.objects.get().submitter.username == "ana"


def test_of_several_people_one_must_be_named():
    factory.make_user("ben", "submitters")

    assert "--as" in refused("reporter", "--input", "limit=1")


def test_limits_go_over_those_of_the_agent():
    submit("reporter", "--input", "limit=1", "--limit", "money=0.25", "tokens=none")

    limits = Run.objects.get().limits
    assert (limits["money"], limits["tokens"]) == ("0.25", None)


def test_an_amount_of_money_is_kept_in_plain_digits():
    submit("reporter", "--input", "limit=1", "--limit", "money=1e3")

    assert Run.objects.get().limits["money"] == "1000"


def test_the_same_key_is_the_same_run():
    first = submit("reporter", "--input", "limit=1", "--key", "monday")

    assert submit("reporter", "--input", "limit=1", "--key", "monday") == first
    assert Run.objects.count() == 1


def test_json_is_one_line():
    said = submit("reporter", "--input", "limit=1", "--json")

    assert json.loads(said)["run_id"] == str(Run.objects.get().pk)
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nobody"], "There are: reporter"),
        (["reporter", "--as", "eve"], "no active person called eve"),
        (["reporter"], "inputs.limit"),
        (["reporter", "--input", "limit=low"], "inputs.limit"),
        (["reporter", "--input", "limit"], "NAME=VALUE"),
        (["reporter", "--input", "limit=1", "quarter=Q9"], "inputs.quarter"),
        (["reporter", "--input", "limit=1", "--limit", "money=0"], "limits.money"),
        (["reporter", "--input", "limit=1", "--limit", "wishes=3"], "limits.wishes"),
    ],
)
def test_what_is_wrong_is_said_in_words(args, words):
    assert words in refused(*args)


def test_who_may_not_submit_is_told():
    factory.make_user("guest")

    assert "may not" in refused("reporter", "--input", "limit=1", "--as", "guest")


def ended(monkeypatch: pytest.MonkeyPatch, state: RunState, **fields: Any) -> None:
    """A worker that is done at once: the run is found in that state."""

    def at_once(seconds: float) -> None:
        run = Run.objects.get()
        factory.change_state(run, state)
        Run.objects.filter(pk=run.pk).update(**fields)

    monkeypatch.setattr("time.sleep", at_once)


def test_it_waits_for_the_end_and_prints_the_result(monkeypatch):
    ended(monkeypatch, RunState.COMPLETED, output="All is well.")

    said = submit("reporter", "--input", "limit=1", "--wait")

    assert "state  completed" in said
    assert "All is well." in said
    assert "human_escalations 0" in said


def test_it_tells_by_its_exit_code_how_it_ended(monkeypatch):
    ended(monkeypatch, RunState.ABORTED)

    with pytest.raises(CommandError, match="aborted") as caught:
        submit("reporter", "--input", "limit=1", "--wait", "5")
    assert caught.value.returncode == 4


def test_it_stops_waiting_in_time():
    with pytest.raises(CommandError, match="not done yet") as caught:
        submit("reporter", "--input", "limit=1", "--wait", "0")
    assert caught.value.returncode == 5


def test_it_stops_waiting_at_a_person(monkeypatch):
    def park(seconds: float) -> None:
        factory.park(Run.objects.get(), has_call=False)

    monkeypatch.setattr("time.sleep", park)

    with pytest.raises(CommandError, match="waits for a person") as caught:
        submit("reporter", "--input", "limit=1", "--wait", "5", "--json")
    assert caught.value.returncode == 3
