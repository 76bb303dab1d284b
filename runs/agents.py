"""Publishing an agent: every change of its configuration is a numbered version."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max

from runs.canonical import digest
from runs.models import Agent, AgentVersion


def publish(agent: Agent, *, by: User | None) -> AgentVersion:
    """The version that is the agent as it is now; makes one if it has changed.

    One transaction. Two that publish at the same moment get the same version.
    """
    config = configuration(agent)
    proof = digest(config)
    newest = agent.versions.order_by("-number").first()
    if newest is not None and newest.digest == proof:
        return newest
    try:
        with transaction.atomic():
            last = agent.versions.aggregate(Max("number"))["number__max"] or 0
            return AgentVersion.objects.create(
                agent=agent,
                number=last + 1,
                config=config,
                digest=proof,
                created_by=by,
            )
    except IntegrityError:
        return publish(agent, by=by)


def configuration(agent: Agent) -> dict[str, Any]:
    """What a version freezes; empty model names take the installation's."""
    model = agent.model or settings.OPENAI_MODEL
    return {
        "name": agent.name,
        "prompt": agent.prompt,
        "model": model,
        "check_model": agent.check_model or settings.OPENAI_CHECK_MODEL or model,
        "max_output_tokens": agent.max_output_tokens,
        "context_window": agent.context_window,
        "plan_first": agent.plan_first,
        "grants": agent.grants,
        "threshold": f"{Decimal(str(agent.threshold)).normalize():f}",
        "review_when": agent.review_when,
        "check_answer": agent.check_answer,
        "has_reviewer": agent.has_reviewer,
        "limits": agent.limits,
    }
