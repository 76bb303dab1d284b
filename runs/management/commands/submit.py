"""`manage.py submit`: a task from the shell, and what became of it."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from agentops import redaction
from agentops.conf import product
from runs import metrics, services
from runs.canonical import Json, loads
from runs.errors import BadInput, NotPermitted
from runs.models import Agent, Run
from runs.states import ParkReason, RunState

WAIT_S = 600.0
LOOK_S = 0.2
WRONG, PARKED, FAILED, LATE = 1, 3, 4, 5


class Command(BaseCommand):
    help = (
        "Submits a task. Exit codes: 0 taken (with --wait: completed), 1 not taken, "
        "3 waits for a person, 4 ended without a result, 5 not done in time."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent", help="the agent's short name, as in its address")
        parser.add_argument("--task", default="", help="what it should do")
        parser.add_argument(
            "--input",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME=VALUE",
            help="fields of the agent's form",
        )
        parser.add_argument("--as", dest="user", help="who submits it")
        parser.add_argument(
            "--limit",
            nargs="+",
            action="extend",
            default=[],
            metavar="KIND=VALUE",
            help="steps, seconds, money or tokens; none for no limit",
        )
        parser.add_argument("--key", help="the same key gives the same run")
        parser.add_argument(
            "--wait",
            nargs="?",
            type=float,
            const=WAIT_S,
            metavar="SECONDS",
            help=f"until it ends or parks ({WAIT_S:g} s if not said)",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON line")

    def handle(self, *args: Any, **options: Any) -> None:
        with redaction.counted() as hidden:
            run = _submitted(options)
        if hidden:
            kinds = redaction.in_words(hidden)
            self.stderr.write(f"Hidden before anything kept it: {kinds}.")
        if options["wait"] is not None:
            _wait(run, options["wait"])
        self._print(run, is_json=options["json"], is_waited=options["wait"] is not None)
        if options["wait"] is not None:
            _judge(run)

    def _print(self, run: Run, *, is_json: bool, is_waited: bool) -> None:
        if is_json:
            self.stdout.write(json.dumps(_facts(run, is_waited)))
            return
        self.stdout.write(f"run    {run.pk}\npage   {_url(run)}")
        if is_waited:
            self.stdout.write(f"state  {_state(run)}")
            for name, value in metrics.summary(run).items():
                self.stdout.write(f"  {name} {value}")
            self.stdout.write(f"\n{run.output or run.error}".rstrip())


def _submitted(options: Mapping[str, Any]) -> Run:
    agent = _agent(options["agent"])
    try:
        return services.start(
            agent=agent,
            by=_user(options["user"]),
            task=options["task"],
            inputs=_inputs(agent, _pairs(options["input"], "--input")),
            limits=_limits(_pairs(options["limit"], "--limit")),
            key=options["key"],
        )
    except NotPermitted as error:
        raise CommandError(error.message) from None
    except BadInput as error:
        lines = [f"{field or 'task'}: {words}" for field, words in error.fields.items()]
        raise CommandError("Not submitted.\n  " + "\n  ".join(lines)) from None


def _agent(name: str) -> Agent:
    agent = Agent.objects.filter(slug=name).first()
    if agent is None:
        slugs = Agent.objects.filter(enabled=True).values_list("slug", flat=True)
        there = ", ".join(slugs) or "none yet"
        raise CommandError(f"There is no agent called {name}. There are: {there}.")
    return agent


def _user(name: str | None) -> User:
    """The person named, or the only one there is."""
    if name is not None:
        try:
            return User.objects.get(username=name, is_active=True)
        except User.DoesNotExist:
            raise CommandError(f"There is no active person called {name}.") from None
    able = User.objects.with_perm(
        services.SUBMIT, backend="django.contrib.auth.backends.ModelBackend"
    )
    people = list(able.order_by("pk")[:2])
    if len(people) != 1:
        raise CommandError("Say who submits it: --as USER.")
    return people[0]


def _pairs(words: Sequence[str], option: str) -> dict[str, str]:
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise CommandError(f"{option} takes NAME=VALUE, not {word!r}.")
        pairs[name] = value
    return pairs


def _inputs(agent: Agent, given: Mapping[str, str]) -> dict[str, Json]:
    """Values in the types that the agent's form wants; its defaults for the rest."""
    properties = agent.input_schema.get("properties", {})
    inputs = {
        name: shape["default"]
        for name, shape in properties.items()
        if "default" in shape
    }
    for name, value in given.items():
        inputs[name] = _typed(value, properties.get(name, {}).get("type", "string"))
    return inputs


def _typed(value: str, kind: Json) -> Json:
    if kind == "string":
        return value
    try:
        return loads(value)
    except ValueError:
        return value


def _limits(given: Mapping[str, str]) -> dict[str, Json]:
    return {
        name: None if value.lower() == "none" else value
        for name, value in given.items()
    }


def _wait(run: Run, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _is_at_rest(run) and time.monotonic() < deadline:
        time.sleep(LOOK_S)
        run.refresh_from_db()


def _is_at_rest(run: Run) -> bool:
    state = RunState(run.state)
    return state.is_final or state is RunState.AWAITING_HUMAN


def _judge(run: Run) -> None:
    """Raises `CommandError` with the exit code unless the run is completed."""
    state = RunState(run.state)
    if state is RunState.COMPLETED:
        return
    if state is RunState.AWAITING_HUMAN:
        question = (run.park or {}).get("question", "")
        raise CommandError(f"It waits for a person: {question}", returncode=PARKED)
    if state.is_final:
        raise CommandError(f"It ended without a result ({state}).", returncode=FAILED)
    raise CommandError(f"It is not done yet ({state}).", returncode=LATE)


def _facts(run: Run, is_waited: bool) -> dict[str, Json]:
    facts: dict[str, Json] = {"run_id": str(run.pk), "url": _url(run)}
    if is_waited:
        facts |= {
            "state": run.state,
            "park_reason": run.park_reason,
            "output": run.output,
            "metrics": metrics.summary(run),
        }
    return facts


def _state(run: Run) -> str:
    state = RunState(run.state)
    if state is RunState.AWAITING_HUMAN:
        return f"{state.label} ({ParkReason(run.park_reason).label})"
    return state.label


def _url(run: Run) -> str:
    return product().base_url.rstrip("/") + reverse("runs:detail", args=[run.pk])
