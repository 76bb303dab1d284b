"""What people do to runs: start, decide, cancel. Each is one transaction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

import jsonschema
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from agentops import clock, log, redaction
from agentops.conf import product
from runs import budgets, guidance, history, points, policy, queue, recording, records
from runs.agents import publish
from runs.canonical import Json, clean_object, clean_text
from runs.errors import BadInput, LeaseLost, NotPermitted, Stale
from runs.models import Agent, Blob, Run
from runs.records import Fence, Move, Record
from runs.states import RunState
from runs.tools import registry
from runs.values import AgentConfig, Policy

logger = logging.getLogger(__name__)

SUBMIT = "runs.submit_run"


def start(
    *,
    agent: Agent,
    by: User,
    task: str = "",
    inputs: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Run:
    """Start a run; the same `key` of the same person gives the same run.

    `task` is needed where the agent has no template, `limits` go over the agent's.
    One transaction, in which a driver is woken. Raises `NotPermitted`, or `BadInput`
    with fields agent, task, `inputs.<name>` and `limits.<kind>`.
    """
    if not by.has_perm(SUBMIT):
        raise NotPermitted("You may not submit tasks.")
    known = _submitted(by, key)
    if known is not None:
        return known
    if not agent.enabled:
        raise BadInput({"agent": f"{agent.name} is switched off."})
    given = _inputs(agent, inputs or {})
    text = _task(agent, task, given)
    allowed = budgets.read_limits(limits or {}, limits_of(agent))
    try:
        return _create(agent, by, text, given, allowed, key)
    except IntegrityError:
        known = _submitted(by, key)
        if known is None:
            raise
        return known


def cancel(run_id: UUID, *, by: User, reason: str) -> None:
    """Abort a run wherever it is; what is in flight is kept as an event when it ends.

    Whoever may see the run may do it, else `NotPermitted`. Raises `Stale` if the run
    is final, or about to be.
    """
    if not Run.objects.filter(id=run_id).visible_to(by).exists():
        raise NotPermitted("You may not abort this run.")
    for _ in range(5):
        run = Run.objects.get(id=run_id)
        state = RunState(run.state)
        if state.is_final or state is RunState.COMPLETING:
            raise Stale(f"The run is {state.label} already.")
        try:
            _abort(run, state, by, reason)
        except (Stale, LeaseLost):
            continue  # a step was recorded meanwhile: look again
        with log.bound(run=run_id):
            logger.info("%s aborted the run", by.get_username())
        return
    raise Stale("The run goes on too fast to be aborted. Try again.")


def _abort(run: Run, state: RunState, by: User, reason: str) -> None:
    now = clock.now()
    fence = Fence(run.id, run.sequence, run.lease_owner, state)
    why = redaction.hide(clean_text(reason))
    move = Move(state, RunState.ABORTED, why, by.get_username(), now, by.pk)
    fields = records.RELEASED | records.unparked(run, now) | {"finished_at": now}
    recording.commit(Record(fence=fence, moves=(move,), fields=fields))


def _submitted(by: User, key: str | None) -> Run | None:
    if key is None:
        return None
    return Run.objects.filter(submitter=by, submit_key=key).first()


@points.write("start")
def _create(
    agent: Agent,
    by: User,
    task: str,
    inputs: dict[str, Json],
    limits: dict[str, Json],
    key: str | None,
) -> Run:
    with transaction.atomic():
        version = publish(agent, by=by)
        config = AgentConfig.of(version.config)
        _refuse_without_price(config, limits)
        system, tools = history.keep(config.prompt), history.keep(_schemas(config))
        Blob.objects.bulk_create([system, tools], ignore_conflicts=True)
        now = clock.now()
        kept = guidance.in_force(agent, _usable(config), now)
        texts = guidance.texts(kept)
        run = Run.objects.create(
            agent=agent,
            version=version,
            submitter=by,
            submit_key=key,
            task=task,
            inputs=inputs,
            limits=limits,
            guidance=texts,
            system_digest=system.digest,
            tools_digest=tools.digest,
            search_text="\n".join([task, agent.name, *texts]).lower(),
            created_at=now,
            wake_at=now,
        )
        guidance.given_to(run, kept)
        queue.wake()
        points.reach("inside start")
    return run


def _usable(config: AgentConfig) -> list[str]:
    return policy.live().toolbox(config).allowed


def _schemas(config: AgentConfig) -> list[Json]:
    """The tools as the model sees them, frozen with the run."""
    toolbox = policy.live().toolbox(config)
    return [
        registry.schema_for_model(offered.spec)
        for offered in toolbox.tools.values()
        if offered.policy is not Policy.BLOCKED
    ]


def _refuse_without_price(config: AgentConfig, limits: Mapping[str, Json]) -> None:
    if limits.get("money") is None:
        return
    live = policy.live()
    unknown = {
        model
        for model in (config.model, config.check_model)
        if live.price(model) is None
    }
    if unknown:
        names = " and ".join(sorted(unknown))
        raise BadInput(
            {
                "limits.money": f"Nobody knows what {names} costs, so a money budget"
                " cannot be kept. Ask an admin to set its price (0 for a local model)."
            }
        )


def _inputs(agent: Agent, given: Mapping[str, Any]) -> dict[str, Json]:
    inputs: dict[str, Json] = redaction.hide_in(clean_object(given))
    validator = jsonschema.Draft202012Validator(
        agent.input_schema, format_checker=jsonschema.FormatChecker()
    )
    problems: dict[str, str] = {}
    for error in validator.iter_errors(inputs):
        problems.setdefault(_field_of(error), error.message)
    if problems:
        raise BadInput(problems)
    return inputs


def _field_of(error: jsonschema.ValidationError) -> str:
    if error.path:
        return f"inputs.{error.path[0]}"
    if error.validator == "required" and isinstance(error.schema, Mapping):
        present = cast("Mapping[str, Any]", error.instance)
        absent = [name for name in error.schema["required"] if name not in present]
        return f"inputs.{absent[0]}"
    return "inputs"


def _task(agent: Agent, task: str, inputs: Mapping[str, Json]) -> str:
    text = redaction.hide(clean_text(task)).strip()
    if agent.task_template:
        filled = _filled(agent.task_template, inputs)
        text = f"{filled}\n\n{text}".strip()
    most = product().max_task_chars
    if not text:
        raise BadInput({"task": "Say what the agent should do."})
    if len(text) > most:
        raise BadInput(
            {"task": f"The task has {len(text):,} characters, at most {most:,} go."}
        )
    return text


def _filled(template: str, inputs: Mapping[str, Json]) -> str:
    """The template with {name} replaced, once and by plain text only."""
    parts = template.split("{")
    filled = [parts[0]]
    for part in parts[1:]:
        name, brace, rest = part.partition("}")
        known = bool(brace) and name in inputs
        filled.append(f"{inputs[name]}{rest}" if known else "{" + part)
    return "".join(filled)


def limits_of(agent: Agent) -> dict[str, Json]:
    """What holds for a run of this agent unless its submitter says otherwise."""
    numbers = product()
    ours: dict[str, Json] = {
        "steps": numbers.max_steps,
        "seconds": int(numbers.max_active_s),
        "money": str(numbers.max_money),
        "tokens": numbers.max_tokens,
    }
    return {**ours, **agent.limits}
