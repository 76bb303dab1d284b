"""A step's line says what came of it; its fold holds everything recorded."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from agentops import clock
from runs import blocks, timeline, waterfall
from runs.models import Attempt, Run, Step
from runs.states import RunState

START = clock.now()


def step(kind: str, number: int = 1, seconds: float = 2.0, **fields) -> Step:
    values = {
        "status": "succeeded",
        "planned_at": START,
        "started_at": START,
        "finished_at": START + timedelta(seconds=seconds),
    }
    return Step(run=Run(), number=number, kind=kind, **values | fields)


def entry(*args, **fields) -> timeline.Entry:
    return timeline.entries([step(*args, **fields)])[0]


def kinds(shown: timeline.Entry) -> list[str]:
    return [block.kind for block in shown.blocks]


def test_a_plan_says_how_many_items_and_the_first():
    shown = entry("plan", response={"items": [{"text": "Read"}, {"text": "Write"}]})

    assert (shown.title, shown.said) == ("Plan", "2 items: Read")
    assert shown.blocks[0].value == ["Read", "Write"]


def test_a_model_step_names_the_tools_it_asks_for():
    call = {"name": "query_database", "arguments": '{"sql": "SELECT 1"}'}
    shown = entry("model", response={"content": "Reading.", "calls": [call]})

    assert shown.said == "Asks for Query database"
    assert kinds(shown) == ["markdown", "code"]
    assert shown.has_prompt


def test_arguments_that_are_no_json_are_shown_as_they_came():
    call = {"name": "send_email", "arguments": '{"to": '}
    shown = entry("model", response={"calls": [call]})

    assert kinds(shown) == ["code", "note"]
    assert shown.blocks[0].value == '{"to": '


@pytest.mark.parametrize(
    ("raw", "shown"),
    [('{"text": ', '{"text": '), (["a"], '[\n  "a"\n]'), (7, "7"), (True, "yes")],
)
def test_a_call_that_could_not_be_made_shows_what_was_asked_as_it_came(raw, shown):
    asked = entry("tool", request={"arguments": raw, "feedback": "No."}).blocks[0]

    assert (asked.kind, asked.value) == ("code", shown)


def test_rows_of_a_query_become_a_table():
    rows = {"columns": ["month", "revenue"], "rows": [["2024-07", 1_250_000]]}
    shown = entry("tool", name="query_database", response={"result": rows})

    assert shown.said == "1 row, 2 columns"
    assert shown.blocks[-1].value.rows == [["2024-07", 1_250_000]]


def test_a_list_of_objects_becomes_a_table_too():
    table = blocks.as_table([{"a": 1, "b": 2}, {"a": 3}])

    assert table is not None
    assert table.columns == ["a", "b"]
    assert table.rows == [[1, 2], [3, None]]


def test_an_error_that_the_model_was_told_is_named_and_opened_to():
    shown = entry(
        "tool",
        name="query_database",
        response={"text": "no such column", "is_error": True},
        error_class="invalid",
        error_text="no such column",
    )

    assert (shown.lead, shown.said) == ("Invalid call", "told to the model")
    assert (shown.tone, shown.icon) == ("bad", "error")
    assert "no such column" in [block.value for block in shown.blocks]


@pytest.mark.parametrize(
    ("response", "lead", "said", "tone"),
    [
        ({"confidence": 0.62, "threshold": 0.8}, "62 % sure", "80 % needed", "wait"),
        ({"confidence": 0.91, "threshold": 0.8}, "91 % sure", "let through", ""),
        (
            {"confidence": 0.91, "rules_that_apply": [1]},
            "91 % sure",
            "1 review rule applies",
            "wait",
        ),
        ({"problem": "It is no JSON."}, "Check failed", "It is no JSON.", "wait"),
    ],
)
def test_a_check_says_how_sure_it_is(response, lead, said, tone):
    shown = entry("check", name="send_email", response=response)

    assert (shown.lead, shown.said, shown.tone) == (lead, said, tone)


def test_a_decision_says_who_decided_and_how_long_the_run_had_waited():
    later = START + timedelta(minutes=20)
    decision = step(
        "decision",
        2,
        planned_at=later,
        started_at=later,
        finished_at=later,
        request={"actor": "operator"},
        response={"kind": "approve", "note": "Confirmed."},
    )

    shown = timeline.entries([step("check", 1), decision])[1]

    assert (shown.lead, shown.said) == ("Approved", "by operator, with a note")
    assert shown.seconds == 1198.0
    assert shown.opens


@pytest.mark.parametrize(("said", "opens"), [({"note": "Why."}, True), ({}, False)])
def test_a_decision_is_open_at_first_where_it_says_something(said, opens):
    shown = entry("decision", response={"kind": "approve"} | said)

    assert shown.opens is opens


def test_the_open_step_of_a_parked_run_is_held_and_not_running():
    open_step = step("tool", status="planned", finished_at=None, name="send_email")

    running = timeline.entries([open_step])[0]
    held = timeline.entries([open_step], state=RunState.AWAITING_HUMAN)[0]
    left = timeline.entries([open_step], state=RunState.ABORTED)[0]

    assert (running.lead, running.tone) == ("Under way", "run")
    assert left.said == "Not carried out: the run had ended"
    assert (held.said, held.tone) == ("Held until a person decides", "wait")


def test_the_step_of_a_run_that_sleeps_waits_and_is_not_under_way():
    open_step = step("tool", status="planned", finished_at=None, name="send_email")
    later = clock.now() + timedelta(seconds=4)

    shown = timeline.entries([open_step], wake_at=later)[0]
    over = timeline.entries([open_step], wake_at=clock.now())[0]

    assert (shown.lead, shown.tone) == ("Waits", "wait")
    assert shown.said.startswith("goes on in ")
    assert over.lead == "Under way"


def test_a_step_at_work_tells_how_long_it_has_been_since_it_was_planned():
    planned = clock.now() - timedelta(seconds=9)
    running = step("tool", planned_at=planned, started_at=None, finished_at=None)
    running.status = "planned"

    at_work = timeline.entries([running])[0]
    held = timeline.entries([running], state=RunState.AWAITING_HUMAN)[0]

    assert at_work.seconds == pytest.approx(9, abs=1)
    assert held.seconds is None


def test_what_was_not_carried_out_took_no_time_and_is_not_in_the_picture():
    skipped = entry("tool", status="skipped", started_at=None, name="send_email")

    assert skipped.seconds is None
    assert waterfall.draw([skipped]) is None


def test_failed_tries_belong_to_their_step():
    early = START - timedelta(seconds=10)
    tries = [Attempt(step_number=2, number=n, started_at=early) for n in (1, 2)]

    first, second = timeline.entries([step("model", 1), step("model", 2)], tries)

    assert (len(first.attempts), len(second.attempts)) == (0, 2)
    assert (first.seconds, second.seconds) == (2.0, 12.0)


@pytest.mark.parametrize("kind", ["plan", "model", "tool", "check", "compaction"])
def test_every_kind_can_be_shown_with_nothing_recorded(kind):
    shown = entry(kind, response=None)

    assert shown.title
    assert isinstance(shown.blocks, tuple)


def test_the_picture_cuts_waiting_out():
    later = START + timedelta(hours=3)
    decision = step(
        "decision",
        2,
        planned_at=later,
        started_at=later,
        finished_at=later,
        response={"kind": "approve"},
    )
    shown = [step("model", 1, 6, cost=Decimal("0.01")), decision, step("tool", 3, 4)]

    picture = waterfall.draw(timeline.entries(shown))

    assert picture is not None
    assert [bar.css for bar in picture.bars] == ["model", "wait", "tool"]
    assert picture.bars[1].width < 10
    assert picture.bars[0].width > picture.bars[2].width
    assert "waited 2 h 59 m for a person" in picture.in_words


def test_there_is_no_picture_of_nothing():
    assert waterfall.draw([]) is None


def test_what_is_very_long_is_cut_in_the_fold_and_whole_on_its_page():
    rows = {"columns": ["n"], "rows": [[n] for n in range(120)]}
    table = entry("tool", name="query_database", response={"result": rows})
    text = entry("tool", name="http_request", response={"text": "x" * 30_000})

    assert len(table.blocks[-1].value.rows) == 50
    assert table.blocks[-1].value.left_out == 70
    assert len(table.whole_blocks[-1].value.rows) == 120
    assert text.blocks[-1].left_out == 10_000
    assert text.whole_blocks[-1].value == "x" * 30_000
    assert table.said == "120 rows, 1 column"
