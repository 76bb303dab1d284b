"""People, agents, runs and parked runs as rows, without an engine.

Plain functions; what is not given is something that works. A parked run has the
steps that lead to such a park, so that a decision on it can be recorded.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from agentops import clock
from reviews.models import Review
from runs import agents, history, policy
from runs.canonical import digest, idempotency_key
from runs.models import Agent, Blob, Effect, Run, Step
from runs.signals import run_changed
from runs.states import EffectStatus, ParkReason, RunState, StepKind, StepStatus
from runs.toolbox import Offered
from runs.tools.base import Effect as EffectKind
from runs.tools.base import ToolSpec, tool
from runs.values import AgentConfig, Park, ProposedCall, RunChange

_count = itertools.count(1)

PASSWORD = "pass-of-a-test"

MAIL = {
    "to": ["analytics@example.com"],
    "subject": "Q3 2024 Revenue Summary",
    "body": "September grew 37.3 %.\nIt is flagged.",
}


@tool(
    effect=EffectKind.IRREVERSIBLE,
    describe=lambda arguments: f"Post to {arguments['to'][0]}",
)
def post_letter(
    to: list[str],
    subject: str,
    body: str,
    copies: int = 1,
    express: bool | None = None,
) -> dict[str, Any]:
    """Post a letter."""
    return {"posted": to}


LETTER: ToolSpec = post_letter


def make_user(name: str = "", *groups: str, email: str | None = None) -> User:
    """In the named groups: submitters, operators, admins."""
    name = name or f"person{next(_count)}"
    address = f"{name}@example.com" if email is None else email
    user = User.objects.create_user(name, address, PASSWORD)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


def ask_rights_of(user: User) -> User:
    """As it comes with a request that has asked for them: no query for them any more."""
    user.remembered = {}  # type: ignore[attr-defined] # as `reviews.backend` sets it
    user.has_perm("reviews.decide_review")
    Agent.objects.ids_decided_by(user)
    return user


def make_agent(**fields: Any) -> Agent:
    """A published agent that may post letters."""
    number = next(_count)
    values: dict[str, Any] = {
        "slug": f"agent-{number}",
        "name": f"Agent {number}",
        "prompt": "You post letters.",
        "plan_first": False,
        "grants": {"post_letter": {"policy": "ask_below", "threshold": 0.8}},
    }
    agent = Agent.objects.create(**(values | fields))
    agents.publish(agent, by=None)
    return agent


def make_run(agent: Agent | None = None, by: User | None = None, **fields: Any) -> Run:
    """A run that executes, its first model call made."""
    agent = agent or make_agent()
    version = agent.versions.order_by("-number")[0]
    system, tools = history.keep(agent.prompt), history.keep([])
    Blob.objects.bulk_create([system, tools], ignore_conflicts=True)
    now = clock.now()
    values: dict[str, Any] = {
        "agent": agent,
        "version": version,
        "submitter": by or make_user("", "submitters", email=""),
        "task": "Post the summary.",
        "system_digest": system.digest,
        "tools_digest": tools.digest,
        "limits": {"steps": 25, "seconds": 600, "money": "0.50", "tokens": 200_000},
        "state": RunState.EXECUTING.value,
        "created_at": now,
        "started_at": now,
        "wake_at": now,
    }
    return Run.objects.create(**(values | fields))


def make_call(
    run: Run, arguments: Mapping[str, Any] | None = None, **fields: Any
) -> ProposedCall:
    """The call of `post_letter` as the engine would seal it."""
    given = dict(MAIL if arguments is None else arguments)
    values: dict[str, Any] = {
        "id": "call_1",
        "tool": LETTER.name,
        "arguments": given,
        "digest": digest([LETTER.name, given]),
        "key": idempotency_key(run.root_key, LETTER.name, given, 1),
        "effect": LETTER.effect_for(given).value,
        "occurrence": 1,
        "title": LETTER.words(given),
    }
    return ProposedCall(**(values | fields))


def park(
    run: Run | None = None,
    reason: ParkReason = ParkReason.LOW_CONFIDENCE,
    *,
    call: ProposedCall | None = None,
    has_call: bool = True,
    **fields: Any,
) -> Review:
    """Park the run as the engine does; returns the review that opened."""
    run = run or make_run()
    if has_call:
        call = call or make_call(run)
    add_step(run, StepKind.MODEL, response=_reply(call))
    if call is not None:
        add_step(run, StepKind.CHECK, name=call.tool, request=_check_of(call))
    values: dict[str, Any] = {
        "reason": reason,
        "title": call.title if call else "Post the summary.",
        "question": "The check is 62 % sure, 80 % is needed.",
        "step": run.sequence,
        "call": call,
        "figures": {"confidence": "0.62", "threshold": "0.8"} if call else {},
        "reasoning": "September looks odd.",
        "seal": _seal(run, call) if call else {},
        "terms": _terms(run, call) if call else {},
    }
    change_state(run, RunState.AWAITING_HUMAN, Park(**(values | fields)))
    return Review.objects.open().get(run=run)


SAID: dict[str, Any] = {
    "confidence": 0.8,
    "rationale": "The figures agree.",
    "will_do": "Post one letter",
    "reversible": False,
    "side_effects": [],
    "rules_that_apply": [],
}


def let_through(confidence: str = "0.8", **fields: Any) -> Run:
    """A run whose letter went out by itself, after a check that was so sure."""
    run = make_run(**fields)
    call = make_call(run)
    said = SAID | {"confidence": float(confidence)}
    sure = Decimal(confidence)
    asked = _check_of(call)
    add_step(run, StepKind.CHECK, request=asked, response=said, confidence=sure)
    add_step(run, StepKind.TOOL, name=call.tool)
    return run


def change_state(run: Run, to: RunState, why: Park | None = None) -> None:
    """Write the state and send the signal, in one transaction."""
    now = clock.now()
    change = RunChange(
        run_id=run.pk,
        from_state=RunState(run.state),
        to_state=to,
        reason="a test",
        actor="test",
        at=now,
        park=why.as_json() if why else None,
    )
    run.state = to.value
    run.park = why.as_json() if why else None
    run.park_reason = why.reason.value if why else ""
    run.parked_at = now if why else None
    run.wake_at = None if why or to.is_final else now
    run.finished_at = now if to.is_final else None
    with transaction.atomic():
        run.save()
        run_changed.send(Run, run=run, change=change)


def add_step(run: Run, kind: StepKind, **fields: Any) -> Step:
    """The run's next step, succeeded unless said otherwise."""
    run.sequence += 1
    now = clock.now()
    values: dict[str, Any] = {
        "run": run,
        "number": run.sequence,
        "kind": kind.value,
        "status": StepStatus.SUCCEEDED.value,
        "state": run.state,
        "planned_at": now,
        "started_at": now,
        "finished_at": now,
    }
    step = Step.objects.create(**(values | fields))
    run.save(update_fields=["sequence"])
    return step


def start_effect(run: Run, call: ProposedCall, owner: str) -> Effect:
    """The call was started by `owner`, and no result came back."""
    return Effect.objects.create(
        key=call.key,
        root=run,
        run=run,
        step_number=run.sequence,
        tool=call.tool,
        arguments_digest=call.digest,
        occurrence=call.occurrence,
        status=EffectStatus.UNKNOWN.value,
        owner=owner,
        started_at=clock.now(),
    )


def _seal(run: Run, call: ProposedCall) -> dict[str, str]:
    offered = _offered(run, call)
    return offered.seal(dict(call.arguments)) if offered else {}


def _terms(run: Run, call: ProposedCall) -> dict[str, Any]:
    offered = _offered(run, call)
    return offered.terms if offered else {}


def _offered(run: Run, call: ProposedCall) -> Offered | None:
    toolbox = policy.live().toolbox(AgentConfig.of(run.version.config))
    return toolbox.tools.get(call.tool)


def _reply(call: ProposedCall | None) -> dict[str, Any]:
    calls = []
    if call is not None:
        made = {"id": call.id, "name": call.tool, "arguments": dict(call.arguments)}
        calls = [made | {"problem": ""}]
    return {
        "content": "",
        "calls": calls,
        "finish_reason": "tool_calls" if calls else "stop",
        "reasoning": "",
        "refusal": "",
        "model": "demo",
    }


def _check_of(call: ProposedCall) -> dict[str, Any]:
    return {
        "call_id": call.id,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "digest": call.digest,
    }
