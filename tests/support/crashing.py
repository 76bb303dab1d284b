"""Orders a child to play a run and to die, and looks at what it left behind."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from django.contrib.auth.models import User

from reviews.models import Decision, Review
from runs import history
from runs.models import Agent, Effect, Run, Step, Tool, Transition
from runs.states import RunState, StepStatus
from tests.support import acts, sound
from tests.support.project import PASSED_ON, ROOT

ANSWER_S = 70


class Children:
    """One process that imports the product once and forks a child per order."""

    def __init__(
        self, folder: Path, database_url: str, more: Mapping[str, str] | None = None
    ) -> None:
        self.acts = folder / "acts"
        self._log = folder / "children.log"
        env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        env |= {
            "DJANGO_SETTINGS_MODULE": "agentops.settings",
            "SECRET_KEY": "of-a-crash-test",
            "DATABASE_URL": database_url,
            "AGENTOPS_VAR": str(folder / "var"),
            "AGENTOPS_BACKOFF_BASE_S": "0.001",
            "AGENTOPS_UNDO_IRREVERSIBLE_S": "0",
            acts.LOG: str(self.acts),
            **(more or {}),
        }
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.crash_child"],
                env=env,
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def play(self, scenario: str, key: str, at: str = "") -> bool:
        """Play the run under this key; True if the child died at the point."""
        order = {"scenario": scenario, "key": key, "at": at}
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        end = json.loads(self._answer())
        if end["signal"] == 9:
            return True
        assert end == {"signal": 0, "code": 0}, f"{end} at {at!r}\n{self.log()}"
        return False

    def log(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(10)
        assert self._process.stdout
        self._process.stdout.close()

    def _answer(self) -> str:
        assert self._process.stdout
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_S)
        assert ready, f"the child does not end\n{self.log()}"
        return self._process.stdout.readline() or f'"gone: {self.log()}"'


def make_people() -> None:
    """Who starts and decides, and the agent they use."""
    User.objects.create_superuser("asker")
    User.objects.create_superuser("boss")
    tools = ["look", "note", "busy", "post", "register", "overtaken", "ask_human"]
    Agent.objects.create(
        slug="clerk",
        name="Clerk",
        prompt="You post letters.",
        model="gpt-5-mini",
        grants={name: {"policy": "ask_below"} for name in tools}
        | {
            "send_email": {"policy": "ask_below"},
            "http_request": {
                "policy": "ask_below",
                "settings": {"allow_private": ["127.0.0.1"]},
            },
        },
    )


def run_of(key: str) -> Run | None:
    return Run.objects.filter(submit_key=key).first()


def in_doubt(key: str) -> set[int]:
    """The acts that were started, without a result, of which no tool can tell."""
    started = Step.objects.filter(
        run__submit_key=key, status=StepStatus.STARTED.value, run__finished_at=None
    )
    return set(started.exclude(name="register").values_list("number", flat=True))


def retire_all() -> None:
    """Let no driver of a later test meet what this one left."""
    Run.objects.update(wake_at=None)
    Tool.objects.all().delete()


def doubts(run: Run) -> int:
    """How often a person was asked whether something had happened."""
    asked = Transition.objects.filter(run=run, to_state="awaiting_human")
    return asked.filter(reason__startswith="Outcome unknown").count()


def assert_ended(run: Run) -> None:
    """What holds for any run that has ended, whatever happened to it."""
    sound.assert_sound(run)
    _assert_reviews(run)
    for step in Step.objects.filter(run=run, kind__in=["plan", "model", "check"]):
        assert history.prompt_of(run, step.number)
    assert RunState(run.state).is_final
    effects = Effect.objects.filter(run=run)
    assert {effect.status for effect in effects} <= {"done"}


def effects_of(run: Run) -> Counter[object]:
    """How often each irreversible tool acted outside, by the file they write."""
    keys = set(Effect.objects.filter(run=run).values_list("key", flat=True))
    return Counter(act["tool"] for act in acts.acts() if act["key"] in keys)


def _assert_reviews(run: Run) -> None:
    reviews = Review.objects.filter(run=run)
    parks = Transition.objects.filter(run=run, to_state="awaiting_human").count()
    decisions = Decision.objects.filter(review__run=run)
    reopened = decisions.exclude(undone_at=None).count()
    assert [review.status for review in reviews] == ["decided"] * (parks - reopened)
    assert decisions.count() == parks
