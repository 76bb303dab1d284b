"""What an admin's settings refuse is told to the model before anybody is asked."""

from __future__ import annotations

import pytest
from django.core import mail

from runs import deciding, policy
from runs.errors import BadInput
from runs.models import Tool
from runs.services import start
from runs.values import VerdictKind
from tests.flows.conftest import decide, make_agent
from tests.support.advance import provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

LETTER = {"subject": "Q3", "body_markdown": "It grew."}


@pytest.fixture
def run(boss):
    settings = {"allow_domains": ["company.com"]}
    Tool.objects.update_or_create(name="send_email", defaults={"settings": settings})
    policy.forget()
    agent = make_agent(grants={"send_email": {"policy": "ask_below"}})
    return start(agent=agent, by=boss, task="Mail it")


def test_no_reviewer_is_asked_about_a_recipient_that_is_not_allowed(run):
    outside = {"to": ["x@evil.example"], **LETTER}

    with provider(calls(("send_email", outside)), text("I may not.")) as model:
        run = settle(run)

    assert "Mail may only go to company.com" in model.requests[1].tool_results[0]
    assert run.state == "completed"
    assert mail.outbox == []


def test_a_person_cannot_edit_a_recipient_in_that_is_not_allowed(run, boss):
    inside = {"to": ["a@company.com"], **LETTER}

    with provider(calls(("send_email", inside)), check(0.3)):
        run = settle(run)
        edited = inside | {"to": ["x@evil.example"]}
        with pytest.raises(BadInput, match="may only go to"):
            decide(run, boss, VerdictKind.APPROVE, arguments=edited)

    run.refresh_from_db()
    assert run.state == "awaiting_human"


def test_what_new_settings_refuse_cannot_be_approved_as_it_is(run, boss):
    inside = {"to": ["a@company.com"], **LETTER}

    with provider(calls(("send_email", inside)), check(0.3)):
        run = settle(run)
        settings = {"allow_domains": ["other.example"]}
        Tool.objects.filter(name="send_email").update(settings=settings)
        policy.forget()
        deciding.reseal(run.pk, sequence=run.sequence)
        with pytest.raises(BadInput, match="may only go to other"):
            decide(run, boss, VerdictKind.APPROVE)

    run.refresh_from_db()
    assert run.state == "awaiting_human"
