"""The sample agents with the demo model, through the engine and the real tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail

from reviews.samples import install
from runs.models import Agent, Attempt, Run, Step
from runs.services import start
from runs.values import VerdictKind
from tests.flows.conftest import decide
from tests.support.advance import settle

pytestmark = pytest.mark.django_db

NOTE = (
    "Confirmed: the September spike is accurate due to enterprise deal close."
    " Proceed with sending."
)


@pytest.fixture(autouse=True)
def samples(tmp_path: Path, settings: Any) -> None:
    settings.AGENTOPS_TOOL_DATABASE_URL = ""
    install(tmp_path)


def begin(slug: str, boss: User) -> Run:
    agent = Agent.objects.get(slug=slug)
    properties = agent.input_schema["properties"]
    inputs = {name: schema["default"] for name, schema in properties.items()}
    return settle(start(agent=agent, by=boss, inputs=inputs))


def kinds(run: Run) -> list[str]:
    return [step.kind for step in Step.objects.filter(run=run).order_by("number")]


def test_the_quarterly_agent_tells_the_story(boss):
    run = begin("quarterly-metrics", boss)
    parked = (run.state, run.park_reason, len(mail.outbox))
    decide(run, boss, VerdictKind.APPROVE, note=NOTE)
    run = settle(run)

    assert parked == ("awaiting_human", "low_confidence", 0)
    assert run.state == "completed"
    assert NOTE in run.output
    assert [message.subject for message in mail.outbox] == ["Q3 2024 Revenue Summary"]
    assert "+37.3 %" in str(mail.outbox[0].body)
    assert kinds(run) == [
        "plan",
        "model",
        "tool",
        "model",
        "tool",
        "model",
        "tool",
        "tool",
        "model",
        "check",
        "decision",
        "tool",
        "model",
    ]
    assert {item["status"] for item in run.plan} == {"done"}


def test_the_quarterly_agent_takes_a_rejection(boss):
    run = begin("quarterly-metrics", boss)
    decide(run, boss, VerdictKind.REJECT, text="Name the currency.")
    run = settle(run)
    assert run.state == "awaiting_human"

    decide(run, boss, VerdictKind.APPROVE)
    run = settle(run)

    assert run.state == "completed"
    assert len(mail.outbox) == 1
    assert "Name the currency." in str(mail.outbox[0].body)


def test_the_quarterly_agent_takes_guidance_and_an_edit(boss):
    run = begin("quarterly-metrics", boss)
    decide(run, boss, VerdictKind.GUIDE, text="Mention the deal.")
    run = settle(run)
    edited = {"to": ["ceo@company.com"], "subject": "Q3", "body_markdown": "Short."}
    decide(run, boss, VerdictKind.APPROVE, arguments=edited)
    run = settle(run)

    assert run.state == "completed"
    assert [message.to for message in mail.outbox] == [["ceo@company.com"]]
    assert "ceo@company.com" in run.output
    assert "Mention the deal." in run.output


def test_the_quarterly_agent_can_be_told_to_leave_it(boss):
    run = begin("quarterly-metrics", boss)
    decide(run, boss, VerdictKind.REJECT, text="Do not send it.")
    run = settle(run)

    assert run.state == "completed"
    assert mail.outbox == []
    assert "not sent" in run.output


def test_the_vendor_agent_asks_and_answers(boss):
    run = begin("vendor-question", boss)
    assert (run.state, run.park_reason) == ("awaiting_human", "question")

    decide(run, boss, VerdictKind.ANSWER, text="Consulting frame agreement")
    run = settle(run)

    assert run.state == "completed"
    assert "30 days" in run.output


def test_the_status_agent_gets_through_an_outage(boss):
    run = begin("flaky-status", boss)

    assert run.state == "completed"
    assert "billing is **up**" in run.output
    assert Attempt.objects.filter(run=run).count() == 2


def test_the_audit_hands_over_and_reports(boss):
    run = begin("payment-audit", boss)
    assert run.state == "awaiting_human"

    decide(run, boss, VerdictKind.GUIDE, text="I will claim it back.")
    run = settle(run)

    assert run.state == "completed"
    assert "I will claim it back." in run.output


def test_an_agent_of_ones_own_gets_an_answer(boss):
    agent = Agent.objects.create(slug="mine", name="Mine", prompt="You are kind.")

    run = settle(start(agent=agent, by=boss, task="Write a poem."))

    assert run.state == "completed"
    assert "demo model" in run.output
