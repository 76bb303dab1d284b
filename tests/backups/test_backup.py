"""A backup is taken under load and restored: runs go on, and no mail goes out twice."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from reviews.models import Review
from reviews.services import decide
from runs.models import Agent, Effect, Run
from runs.services import start
from runs.states import FINAL, ParkReason
from tests.backups.copies import back_up, restored
from tests.support import acts, databases
from tests.support.answering import answer
from tests.support.fleet import assert_well, assert_whole, fleet
from tests.support.outside import servers
from tests.support.processes import TOKEN
from tests.support.project import LiveProject
from tests.support.replies import Answer, calls, slow, text
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

EARLY, LATE, LAST = "Early", "Late", "Last"
EACH = 3
LONG_S = 90.0
DELAY_S = 0.2


class Model:
    """Counts, sends a mail about the task, and says so.

    It asks for the mails of the last letters only once `may_go_on` allows it.
    """

    def __init__(self) -> None:
        self.may_go_on = {LATE: threading.Event(), LAST: threading.Event()}

    def __call__(self, body: dict[str, Any]) -> Answer:
        task = next(m["content"] for m in body["messages"] if m["role"] == "user")
        done = sum(message["role"] == "tool" for message in body["messages"])
        if not done:
            return slow(calls(("calculate", {"expression": "1 + 1"})), DELAY_S)
        for kind, event in self.may_go_on.items():
            if task.startswith(kind):
                event.wait(LONG_S)
        mail = {"to": ["ana@example.com"], "subject": task, "body_markdown": "Done."}
        return slow(
            calls(("send_email", mail)) if done == 1 else text("Sent."), DELAY_S
        )


@pytest.fixture
def loaded(live_project, tmp_path, monkeypatch):
    """A worker tree with runs under way, and a mail server that counts."""
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    model = Model()
    with servers.serving() as outside, fleet(live_project, answer=model) as made:
        project = made.project(worker=True, **outside.environment())
        _start_runs()
        yield project, outside, model.may_go_on


def _start_runs() -> None:
    person = User.objects.create_superuser("fleet")
    User.objects.create_superuser("boss")
    agent = Agent.objects.create(
        slug="mail",
        name="Mail",
        prompt="You write mails.",
        plan_first=False,
        limits={"money": None},
        grants={name: {"policy": "auto"} for name in ("calculate", "send_email")},
    )
    for kind in (EARLY, LATE, LAST):
        for number in range(EACH):
            start(agent=agent, by=person, task=f"{kind} {number}")


def test_what_was_sent_since_the_backup_is_not_sent_again(loaded, tmp_path):
    project, outside, may_go_on = loaded
    _wait_for(outside, EACH)
    backup = back_up(project.database_url, tmp_path / "backup")
    may_go_on[LATE].set()
    _wait_for(outside, 2 * EACH)
    project.kill_tree("worker")
    may_go_on[LAST].set()

    with contextlib.ExitStack() as stack:
        folder = tmp_path / "anew"
        folder.mkdir()
        url = stack.enter_context(restored(backup, folder))
        stack.enter_context(databases.rows_of(url))
        anew = LiveProject(folder, url, _env(project, folder, url))
        stack.callback(anew.stop)
        anew.manage("restored")
        anew.start_worker()
        wait_until(lambda: _looked_at(outside), timeout_s=LONG_S, what="all ends")
        assert_whole()
        assert_well(anew)
        keys = set(Effect.objects.values_list("key", flat=True))

    counts = outside.counts()
    assert {key for _, key in counts} == keys
    assert len(keys) == 3 * EACH
    assert set(counts.values()) == {1}


def _wait_for(outside: servers.Outside, mails: int) -> None:
    what = f"{mails} mails"
    wait_until(lambda: len(outside.counts()) >= mails, timeout_s=LONG_S, what=what)


def _env(project: LiveProject, folder: Path, url: str) -> dict[str, str]:
    """As before, but for what tells one installation from another."""
    env = {name: value for name, value in project.env.items() if name != TOKEN}
    return env | {"DATABASE_URL": url, "AGENTOPS_VAR": str(folder / "var")}


def _looked_at(outside: servers.Outside) -> bool:
    """A person looks what was really sent, item by item; have all runs ended?"""
    boss = User.objects.get(username="boss")
    for review in Review.objects.open().select_related("run"):
        kind, payload = _answer(review, outside)
        decide(
            review.pk,
            by=boss,
            kind=kind,
            item_version=review.version,
            digest=review.digest,
            payload=payload,
        )
    return not Run.objects.exclude(state__in=[s.value for s in FINAL]).exists()


def _answer(review: Review, outside: servers.Outside) -> tuple[str, dict[str, Any]]:
    if review.reason != ParkReason.RESTORED:
        return answer(review.run.park or {}, lambda key: bool(outside.count(key)))
    if outside.count(review.proposal["key"]):
        return "supply", {"type": "text", "result": "It was sent."}
    return "approve", {}
