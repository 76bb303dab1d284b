"""Plays a run to its end in a child that dies wherever it is told to.

    python -m tests.support.crash_child

reads one order per line, `{"scenario": …, "key": …, "at": "before commit#3"}`, forks
for it, and prints how the child ended: `{"signal": 9, "code": 0}`. The child starts
the run under that key (or finds it), drives it, and decides as a person would who
looks what really happened. The model is scripted at the transport and answers from
the messages alone, so that any child can go on where another died.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import django

django.setup()

# ruff: noqa: E402 - the models need the apps

from django.contrib.auth.models import User
from django.db.backends.signals import connection_created

from agentops import clock
from reviews.models import Decision, Review
from reviews.restored import mark_all
from reviews.services import decide
from reviews.stale import StaleReview
from reviews.undo import undo
from runs import engine, leases, points, policy, pricing, services, slots
from runs.errors import LeaseLost, Transient
from runs.llm.openai import OpenAIClient
from runs.llm.registry import using
from runs.models import Agent, Run, Tool
from runs.states import RunState
from runs.tools import registry
from runs.tools.base import (
    Context,
    Effect,
    Reconciled,
    Reconciliation,
    ToolSpec,
    tool,
)
from runs.work import Rest, Work
from tests.support import acts, answering
from tests.support.outside import servers
from tests.support.provider import BASE_URL, ScriptedProvider
from tests.support.replies import Answer, calls, check, error, plan, text
from tests.support.wait import wait_until

SLOT = 1
TOO_LONG = 2000
ALARM_S = 60


# ---- tools, with points in the middle of what they do


@tool(effect=Effect.READ, keeps_deadline=True)
def look(page: str) -> str:
    """Read a long page."""
    points.reach("inside read")
    return page * TOO_LONG


@tool(effect=Effect.IDEMPOTENT, keeps_deadline=True)
def note(what: str, context: Context) -> str:
    """Write down a note, which may be written twice."""
    acts.write("note", what, context.key)
    points.reach("inside idempotent")
    return "noted"


@tool(effect=Effect.READ, keeps_deadline=True)
def busy(what: str, context: Context) -> str:
    """Be busy the first time."""
    if context.attempt == 1:
        raise Transient("busy")
    return what


@tool(effect=Effect.IRREVERSIBLE, keeps_deadline=True)
def post(what: str, context: Context) -> str:
    """Post a letter, of which nobody can tell where it is."""
    acts.write("post", what, context.key)
    points.reach("inside post")
    return "posted"


def _trace(arguments: dict[str, object], context: Context) -> Reconciliation:
    points.reach("inside reconcile")
    if acts.has_happened(context.key):
        return Reconciliation(Reconciled.HAPPENED, "traced")
    return Reconciliation(Reconciled.NOT_HAPPENED)


@tool(effect=Effect.IRREVERSIBLE, keeps_deadline=True, reconcile=_trace)
def register(what: str, context: Context) -> str:
    """Post a registered letter, which can be traced."""
    points.reach("inside register, not sent")
    acts.write("register", what, context.key)
    points.reach("inside register")
    return "registered"


@tool(effect=Effect.IRREVERSIBLE, keeps_deadline=True)
def overtaken(what: str, context: Context) -> str:
    """Post a letter, while somebody cancels the run."""
    acts.write("overtaken", what, context.key)
    points.reach("inside overtaken")
    services.cancel(UUID(context.run_id), by=_boss(), reason="Not wanted any more.")
    return "posted"


TOOLS: tuple[ToolSpec, ...] = (look, note, busy, post, register, overtaken)
SHOP = os.environ.get(servers.ENVIRONMENT, "http://127.0.0.1:9")
MAIL = {"to": "ana@example.com", "subject": "Hello", "body_markdown": "Fine."}
DOUBTFUL = ("post", "http_request")
ORDER = {"method": "POST", "url": f"{SHOP}/orders", "body": "one"}

Turn = tuple[tuple[str, dict[str, Any]], ...]
SCENARIOS: dict[str, tuple[Turn, ...]] = {
    "letters": (
        (("look", {"page": "p"}), ("note", {"what": "n"})),
        (("busy", {"what": "b"}),),
        (("ask_human", {"question": "Shall I?"}),),
        (("register", {"what": "r"}),),
        (("post", {"what": "l"}),),
    ),
    "outside": (
        (("look", {"page": "p"}), ("note", {"what": "n"})),
        (("send_email", MAIL),),
        (("register", {"what": "r"}),),
        (("http_request", ORDER),),
    ),
    "overtaken": ((("overtaken", {"what": "o"}),),),
    "changed": ((("post", {"what": "c"}),),),
    "undone": ((("post", {"what": "u"}),),),
    "forked": ((("post", {"what": "f"}),),),
    "poison": ((("look", {"page": "p"}),),),
    "restored": ((("post", {"what": "r"}),),),
}


# ---- the model


def _model(turns: tuple[Turn, ...]) -> Callable[[dict[str, Any]], Answer]:
    def answer(body: dict[str, Any]) -> Answer:
        points.reach("inside model call")
        asked = body.get("response_format", {}).get("json_schema", {}).get("name")
        if asked == "plan":
            return plan("Post the letters")
        if asked == "confidence_check":
            asked_about = body["messages"][-1]["content"]
            is_doubtful = any(f'"tool":"{name}"' in asked_about for name in DOUBTFUL)
            return check(0.3 if is_doubtful else 0.9)
        return _turn(turns, body["messages"])

    return answer


def _turn(turns: tuple[Turn, ...], messages: list[dict[str, Any]]) -> Answer:
    done = sum("tool_calls" in message for message in messages)
    if done < len(turns):
        return calls(*turns[done])
    results = [m["content"] for m in messages if m["role"] == "tool"]
    if any(len(result) >= TOO_LONG for result in results) and len(turns) > 1:
        return error(400, "context_length_exceeded")
    return text("Done.")


# ---- driver and person


class Player:
    """One driver's process, and the person who decides, in one."""

    def __init__(self, scenario: str, key: str) -> None:
        slot = slots.take(SLOT)
        assert slot, "a dead child still holds the slot"
        leases.prune()
        agent = Agent.objects.get(slug="clerk")
        run = services.start(agent=agent, by=_asker(), task="Post letters", key=key)
        if scenario == "restored":
            mark_all()
        self.owner = leases.begin(SLOT)
        self.acts = 0
        self.run_id = run.pk
        self.scenario = scenario

    def play(self) -> None:
        if self._is_untouched():
            self._stumble()
        while self._goes_on():
            if self._run_state() is RunState.AWAITING_HUMAN:
                self._decide()
            elif not self._took_back():
                wait_until(self._claim_and_advance, what="a claim", pause_s=0.002)
        leases.end(self.owner)

    def _goes_on(self) -> bool:
        """Has the run not ended? What was forked goes on as its fork."""
        fork = Run.objects.filter(forked_from=self.run_id).first()
        self.run_id = fork.pk if fork else self.run_id
        return not self._run_state().is_final

    def _is_untouched(self) -> bool:
        run = self._run()
        return run.sequence == 0 and run.claims == 0

    def _stumble(self) -> None:
        """Give the run back as it is, so that it is a suspect; or make it poison."""
        if self.scenario == "poison":
            Run.objects.filter(pk=self.run_id).update(claims=3, claims_alone=3)
            return
        for _ in range(2):
            leases.forfeit(leases.claim(self.owner, 1), self.owner)

    def _claim_and_advance(self) -> bool:
        poisoned = leases.claim_poisoned(self.owner)
        if poisoned:
            engine.park_poison(poisoned, self.owner)
            return True
        for run_id in leases.claim(self.owner, 1) or self._claim_alone():
            try:
                self._advance(run_id)
            except LeaseLost:
                leases.forfeit([run_id], self.owner)
            return True
        return False

    def _claim_alone(self) -> list[Any]:
        run_id = leases.claim_alone(self.owner)
        return [run_id] if run_id else []

    def _advance(self, run_id: Any) -> None:
        held = engine.open(run_id, self.owner)
        following: Work | Rest = engine.proceed(held)
        while isinstance(following, Work):
            following = engine.begin(held, following)
            if isinstance(following, Work):
                following = engine.record(held, following.perform())
            self.acts += 1
            if self.acts == 2:
                leases.beat(self.owner)
                leases.stamp(self.owner, held=1)
            if self.acts == 3 and isinstance(following, Work):
                leases.release([run_id], self.owner)
                return

    def _decide(self) -> None:
        if self.scenario == "changed":
            Tool.objects.get_or_create(name="post", defaults={"threshold": "0.99"})
            policy.forget()
        if self.scenario == "undone":
            window_s = 0 if self._decisions().exclude(undone_at=None) else 60
            Tool.objects.update_or_create(name="post", defaults={"undo_s": window_s})
        review = Review.objects.open().get(run_id=self.run_id)
        kind, payload = answering.answer(self._run().park or {}, _has_happened)
        if self.scenario == "forked" and self._run().forked_from_id is None:
            kind, payload = "fork", {"step": str(review.step_number)}
        with suppress(StaleReview):  # its call has changed: look again
            decide(
                review.pk,
                by=_boss(),
                kind=kind,
                item_version=review.version,
                digest=review.digest,
                payload=payload,
            )

    def _took_back(self) -> bool:
        """The first approval of what is to be undone, before it takes effect."""
        waiting = self._decisions().filter(
            undone_at=None, effective_at__gt=clock.later(1)
        )
        if self.scenario != "undone" or not waiting.exists():
            return False
        undo(Review.objects.get(run_id=self.run_id).pk, by=_boss())
        return True

    def _decisions(self) -> Any:
        return Decision.objects.filter(review__run_id=self.run_id)

    def _run(self) -> Run:
        return Run.objects.get(pk=self.run_id)

    def _run_state(self) -> RunState:
        return RunState(self._run().state)


def _has_happened(key: str) -> bool:
    """By the file, and by the servers where the order's run has to do with any."""
    if os.environ.get(servers.ENVIRONMENT):
        return servers.count(key) > 0
    return acts.has_happened(key)


def _boss() -> User:
    return User.objects.get(username="boss")


def _asker() -> User:
    return User.objects.get(username="asker")


# ---- orders


def _unsynced(connection: Any, **_: Any) -> None:
    """What a process wrote outlives it; only the machine's death would need more."""
    if connection.vendor == "sqlite":
        connection.cursor().execute("PRAGMA synchronous = OFF")


connection_created.connect(_unsynced)


def carry_out(order: dict[str, str]) -> None:
    signal.alarm(ALARM_S)
    points.arm(order["at"])
    provider = ScriptedProvider(then=_model(SCENARIOS[order["scenario"]]))
    client = OpenAIClient(BASE_URL, "sk-test", transport=provider.transport)
    with registry.added(*TOOLS), using(client):
        Player(order["scenario"], order["key"]).play()
    provider.assert_clean()


def in_child(order: dict[str, str]) -> dict[str, int]:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            carry_out(order)
            code = 0
        except BaseException:  # noqa: BLE001 - told to whoever reads the log
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return {"signal": os.WTERMSIG(status), "code": 0}
    return {"signal": 0, "code": os.WEXITSTATUS(status)}


def warm() -> None:
    """What every child would else do for itself, once."""
    registry.discover()
    pricing.list_price("gpt-5-mini")
    OpenAIClient(BASE_URL, "sk-test").close()
    gc.freeze()


if __name__ == "__main__":
    warm()
    for line in sys.stdin:
        print(json.dumps(in_child(json.loads(line))), flush=True)  # noqa: T201
