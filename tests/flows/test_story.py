"""The acceptance story without workers and pages, against a scripted model."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import transaction

from runs import deciding, history
from runs.models import Agent, Effect, Run, Step, Transition
from runs.services import start
from runs.values import Verdict, VerdictKind
from tests.support.advance import provider, settle
from tests.support.factory import make_user
from tests.support.replies import calls, check, plan, text

pytestmark = pytest.mark.django_db

MAIL = {"to": ["analytics@company.com"], "subject": "Q3", "body_markdown": "Grew 37 %"}
NOTE = "Confirmed: the spike is real. Proceed with sending."


@pytest.fixture
def agent():
    return Agent.objects.create(
        slug="metrics",
        name="Metrics",
        prompt="You report.",
        grants={
            "calculate": {"policy": "auto"},
            "send_email": {"policy": "ask_below", "threshold": 0.8},
        },
        review_when=["a month grows more than 30 %"],
    )


@pytest.fixture
def submitter():
    return User.objects.create_superuser("submitter")


def approve(run: Run, by: User, **more: object) -> None:
    verdict = Verdict(VerdictKind.APPROVE, **more)  # type: ignore[arg-type]
    with transaction.atomic():
        deciding.resume(run.pk, verdict, by=by, sequence=run.sequence)


def test_a_doubtful_mail_parks_is_approved_and_goes_out_once(agent, submitter):
    script = [
        plan("Compute", "Send"),
        calls(("calculate", {"expression": "1895000/1380000", "plan_item": 1})),
        calls(("send_email", MAIL | {"plan_item": 2})),
        check(0.62, rules=[1]),
        text("Sent."),
    ]

    with provider(*script) as model:
        run = settle(start(agent=agent, by=submitter, task="Report Q3"))
        parked = (run.state, run.park_reason, len(mail.outbox))
        approve(run, submitter, note=NOTE)
        run = settle(run)

    assert parked == ("awaiting_human", "low_confidence", 0)
    assert (run.state, run.output) == ("completed", "Sent.")
    assert len(mail.outbox) == 1
    assert Effect.objects.get().status == "done"
    assert model.requests[-1].messages[-1]["role"] == "user"
    assert NOTE in model.requests[-1].messages[-1]["content"]
    states = [t.to_state for t in Transition.objects.filter(run=run)]
    assert states == [
        "planning",
        "executing",
        "observing",
        "executing",
        "awaiting_human",
        "executing",
        "observing",
        "completing",
        "completed",
    ]
    numbers = [step.number for step in Step.objects.filter(run=run)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [item["status"] for item in run.plan] == ["done", "done"]


def test_every_prompt_can_be_rebuilt_as_it_was_sent(agent, submitter):
    script = [
        plan("Compute", "Send"),
        calls(
            ("calculate", {"expression": "1+1", "plan_item": 1}),
            ("calculate", {"expression": "("}),
        ),
        calls(("send_email", MAIL)),
        check(0.9),
        text("Sent."),
    ]

    with provider(*script) as model:
        run = settle(start(agent=agent, by=submitter, task="Report Q3"))

    asked = Step.objects.filter(run=run, kind__in=["plan", "model", "check"])
    rebuilt = [history.prompt_of(run, step.number) for step in asked]
    assert rebuilt == [request.messages for request in model.requests]


def test_who_asked_is_told_that_it_waits_and_that_it_is_done(agent):
    sue = make_user("sue", "submitters")
    script = [plan("Send"), calls(("send_email", MAIL)), check(0.62), text("Sent.")]

    with provider(*script):
        run = settle(start(agent=agent, by=sue, task="Report Q3"))
        approve(run, User.objects.create_superuser("boss"))
        settle(run)

    told = run.notifications.filter(person=sue).order_by("pk")
    assert [row.event for row in told] == ["parked", "finished"]
