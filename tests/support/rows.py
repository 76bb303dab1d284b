"""Rows for tests that are about something else."""

from __future__ import annotations

import itertools
from typing import Any

from django.contrib.auth.models import User

from agentops import clock
from runs.models import Agent, AgentVersion, Effect, Run

_numbers = itertools.count(1)


def make_run(**fields: Any) -> Run:
    """A run that is due now, of an agent and a person of its own."""
    number = next(_numbers)
    agent = Agent.objects.create(slug=f"agent-{number}", name="Agent", prompt="Work.")
    version = AgentVersion.objects.create(
        agent=agent, number=1, config={}, digest=str(number)
    )
    now = clock.now()
    values = {
        "agent": agent,
        "version": version,
        "submitter": User.objects.create(username=f"person-{number}"),
        "task": "Do it.",
        "created_at": now,
        "wake_at": now,
    }
    return Run.objects.create(**values | fields)


def effect_of(run: Run, **fields: Any) -> Effect:
    """The ledger's row of the run's first step, an act that has begun; not saved."""
    values: dict[str, Any] = {
        "key": "k" * 64,
        "root": run,
        "run": run,
        "step_number": 1,
        "tool": "post",
        "arguments_digest": "a",
        "occurrence": 1,
        "status": "started",
        "owner": run.lease_owner,
        "started_at": clock.now(),
    }
    return Effect(**values | fields)
