"""An agent that may call the test tools, and people."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from runs import deciding, policy
from runs.models import Agent, Run
from runs.services import start
from runs.tools import registry
from runs.values import Verdict, VerdictKind
from tests.support import acts


@pytest.fixture(autouse=True)
def _test_tools(tmp_path, monkeypatch):
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    policy.forget()
    with registry.added(*acts.ALL):
        yield


@pytest.fixture
def boss(db):
    return User.objects.create_superuser("boss")


@pytest.fixture
def agent(db):
    return make_agent()


def make_agent(**fields) -> Agent:
    grants = {spec.name: {"policy": "ask_below"} for spec in acts.ALL}
    grants |= {"ask_human": {"policy": "auto"}, "escalate": {"policy": "auto"}}
    values = {
        "slug": "clerk",
        "name": "Clerk",
        "prompt": "You post letters.",
        "plan_first": False,
        "grants": grants,
    }
    return Agent.objects.create(**values | fields)


@pytest.fixture
def run(agent, boss):
    return start(agent=agent, by=boss, task="Post a letter")


def decide(run: Run, by: User, kind: VerdictKind, **more) -> None:
    run.refresh_from_db()
    with transaction.atomic():
        deciding.resume(run.pk, Verdict(kind, **more), by=by, sequence=run.sequence)
