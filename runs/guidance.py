"""Guidance that people keep for later runs: for one agent, or for users of one tool."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import Q

from runs.canonical import clean_text
from runs.models import Agent, Guidance, Run

MAX_LENGTH = 2000
"""Characters of a text that is kept: every later prompt is longer by it."""


def in_force(agent: Agent, tools: Collection[str], at: datetime) -> list[Guidance]:
    """What a run of the agent that may use these tools is given, oldest first.

    One query.
    """
    meant = Q(agent=agent) | Q(tool__in=[name for name in tools if name])
    lasting = Q(expires_at=None) | Q(expires_at__gt=at)
    begun = Guidance.objects.filter(created_at__lte=at, enabled=True)
    return list(begun.filter(meant, lasting))


def texts(kept: Sequence[Guidance]) -> list[str]:
    """As a run freezes them: one line each, for they are read as a list."""
    return [" ".join(clean_text(one.text).split()) for one in kept]


def given_to(run: Run, kept: Sequence[Guidance]) -> None:
    """Note that the run started with these, in the caller's transaction."""
    if kept:
        run.guided_by.add(*kept)


def keep(
    text: str,
    *,
    by: User,
    at: datetime,
    agent: Agent | None = None,
    tool: str = "",
    until: datetime | None = None,
) -> Guidance:
    """Keep it for runs that start from now on; exactly one of `agent` and `tool`."""
    return Guidance.objects.create(
        agent=agent,
        tool=tool,
        text=clean_text(text),
        owner=by,
        created_at=at,
        expires_at=until,
    )
