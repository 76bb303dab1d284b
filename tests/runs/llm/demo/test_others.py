"""The other sample agents, and agents that the demo model does not know."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from reviews.samples.agents import FLAKY_STATUS, PAYMENT_AUDIT, VENDOR_QUESTION
from runs.errors import StepError, Transient
from runs.llm import demo, get_client
from runs.llm.base import DEMO_MODEL, Request
from runs.llm.demo.transport import Outages
from tests.runs.llm.demo.rehearsal import Call, Rehearsal

STRANGER: dict[str, Any] = {
    "prompt": "You are a kind librarian.",
    "grants": {},
    "task_template": "",
    "review_when": [],
}


def stranger(folder: Path, task: str) -> Rehearsal:
    return Rehearsal(STRANGER, folder, task=task, plan=True)


def waiting(rehearsal: Rehearsal, name: str) -> Call:
    found = rehearsal.go_on()
    assert isinstance(found, Call)
    assert found.name == name
    return found


def test_the_vendor_agent_asks_which_contract(tmp_path: Path) -> None:
    rehearsal = Rehearsal(VENDOR_QUESTION, tmp_path)

    call = waiting(rehearsal, "ask_human")

    assert len(call.arguments["options"]) == 2
    assert call.item == 2


@pytest.mark.parametrize(
    ("answer", "notice"),
    [
        ("Consulting frame agreement (signed 2023-06-15)", "30 days"),
        ("the consulting one", "30 days"),
        ("The licence, please", "90 days"),
        ("the one of 2022", "90 days"),
    ],
)
def test_the_vendor_agent_uses_the_answer(
    tmp_path: Path, answer: str, notice: str
) -> None:
    rehearsal = Rehearsal(VENDOR_QUESTION, tmp_path)
    rehearsal.answer(waiting(rehearsal, "ask_human"), f"A person answers: {answer}")

    final = str(rehearsal.go_on())

    assert notice in final
    assert answer in final
    assert rehearsal.transport.problems == []


def test_the_vendor_agent_asks_once_more_if_it_has_to(tmp_path: Path) -> None:
    rehearsal = Rehearsal(VENDOR_QUESTION, tmp_path)
    for _ in range(2):
        call = waiting(rehearsal, "ask_human")
        rehearsal.answer(call, "A person answers: you choose")

    assert "stayed open" in str(rehearsal.go_on())


def test_the_vendor_agent_does_not_ask_about_one_contract(tmp_path: Path) -> None:
    rehearsal = Rehearsal(VENDOR_QUESTION, tmp_path, vendor="Harbour Hosting")

    answer = str(rehearsal.go_on())
    rehearsal.remind(2)
    rehearsal.go_on()

    assert "60 days" in answer
    assert rehearsal.calls[-1].name == "update_plan"
    assert "60 days" in rehearsal.texts[-1]


def test_the_status_agent_gets_through_an_outage(tmp_path: Path) -> None:
    rehearsal = Rehearsal(FLAKY_STATUS, tmp_path)

    answer = str(rehearsal.go_on())

    assert "billing is **up** since 2024-10-01 08:10" in answer
    assert [error.retry_after for error in rehearsal.retries] == [1.0, None]
    assert "429" in rehearsal.retries[0].message
    assert "503" in rehearsal.retries[1].message


def test_each_run_meets_the_outage(tmp_path: Path) -> None:
    outages = Outages()
    tries = [outages.answer("one") for _ in range(3)]
    again = outages.answer("one")

    assert [found is None for found in tries] == [False, False, True]
    assert again is not None


def test_the_audit_hands_over_what_was_paid_twice(tmp_path: Path) -> None:
    rehearsal = Rehearsal(PAYMENT_AUDIT, tmp_path)
    call = waiting(rehearsal, "escalate")
    rehearsal.answer(call, "A person answers: It was paid twice, I claim it back.")

    answer = str(rehearsal.go_on())

    assert "NA-2207" in call.arguments["reason"]
    assert "2024-09-04 and 2024-09-18" in call.arguments["reason"]
    assert "I claim it back." in answer


def test_the_audit_reports_when_all_is_well(tmp_path: Path) -> None:
    rehearsal = Rehearsal(PAYMENT_AUDIT, tmp_path, month="2024-08")

    assert "No invoice was paid twice." in str(rehearsal.go_on())


def test_a_stranger_is_told_what_this_is(tmp_path: Path) -> None:
    rehearsal = stranger(tmp_path, "Write a poem.")

    answer = str(rehearsal.go_on())

    assert len(rehearsal.items) == 1
    assert "Write a poem." in rehearsal.items[0]
    assert "demo model" in answer
    assert "OPENAI_API_KEY" in answer


def test_a_stranger_gets_the_obvious_sum(tmp_path: Path) -> None:
    rehearsal = stranger(tmp_path, "What is (3 + 4) * 6, please?")

    answer = str(rehearsal.go_on())

    assert "42" in answer


def test_a_stranger_gets_the_obvious_query(tmp_path: Path) -> None:
    rehearsal = stranger(tmp_path, "Show me: SELECT title FROM contracts WHERE id = 3")

    assert "Managed hosting" in str(rehearsal.go_on())


def test_a_developers_own_tool_is_called_when_it_is_named() -> None:
    tool = {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {
                "type": "object",
                "properties": {
                    "key": {"type": "string"},
                    "limit": {"type": "integer"},
                },
                "required": ["key", "limit"],
            },
        },
    }
    messages = [{"role": "user", "content": 'Please look up "alpha", at most 3.'}]

    reply = demo.client().complete(Request("m", messages, 100, 5, tools=[tool]))

    (call,) = reply.calls
    assert (call.name, call.arguments) == ("look_up", '{"key": "alpha", "limit": 3}')


def test_a_stranger_never_acts(tmp_path: Path) -> None:
    agent = STRANGER | {"grants": {"send_email": {}}}
    task = 'Send email to "a@b.example" about "x" saying "y".'
    rehearsal = Rehearsal(agent, tmp_path, task=task)

    assert "demo model" in str(rehearsal.go_on())


def test_a_check_it_cannot_judge_asks_a_person(tmp_path: Path) -> None:
    rehearsal = stranger(tmp_path, "Anything")
    entry = {"id": "c", "function": {"name": "pay", "arguments": '{"amount": 5}'}}

    assert rehearsal.check(Call(entry))["confidence"] < 0.75


def test_it_is_a_function_of_its_messages(tmp_path: Path) -> None:
    first, second = (Rehearsal(VENDOR_QUESTION, tmp_path) for _ in range(2))

    first.go_on()
    second.go_on()

    assert first.messages == second.messages


def test_it_is_labelled_and_says_what_it_used() -> None:
    client = get_client("demo")

    reply = client.complete(Request("m", [{"role": "user", "content": "Hi"}], 9, 5))

    assert client.label == "demo model"
    assert reply.model == DEMO_MODEL
    assert reply.usage is not None
    assert reply.usage.input > 0
    assert reply.usage.output > 0


def test_it_takes_its_time_and_keeps_the_deadline() -> None:
    client = demo.client(latency_s=0.2)
    started = time.monotonic()
    client.complete(Request("m", [{"role": "user", "content": "Hi"}], 9, 5))
    took = time.monotonic() - started

    with pytest.raises(StepError) as caught:
        client.complete(Request("m", [{"role": "user", "content": "Hi"}], 9, 0.05))

    assert took >= 0.1
    assert isinstance(caught.value, Transient)
