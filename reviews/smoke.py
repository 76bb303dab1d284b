"""The acceptance story, played on a real installation with people of its own.

The agent names the demo model, reads a database of its own and mails into files, so
that it behaves the same on every installation and nothing leaves it. Its operator
has no address, and only that operator decides: nobody is told of its reviews.
"""

from __future__ import annotations

import copy
import os
import sys
import time
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, Permission, User

from agentops.mail import count_with_key, kept_in
from reviews import services
from reviews.children import Child
from reviews.models import Review
from reviews.samples.agents import LIMITS, QUARTERLY_METRICS
from reviews.samples.people import SMOKE
from reviews.samples.tables import TABLES, make
from runs import health
from runs import services as runs
from runs.errors import AgentOpsError, Stale
from runs.llm.base import DEMO_MODEL
from runs.models import Agent, Effect, Run, Transition
from runs.states import ParkReason, RunState

SLUG = "smoke-test"
SUBMITTER, OPERATOR, DECIDERS = f"{SMOKE}submitter", f"{SMOKE}operator", "smoke"
TOOL = "send_email"
INPUTS = {
    "quarter": "Q3 2024",
    "region": "North America",
    "limit_percent": 30,
    "recipient": "analytics@company.com",
}
NOTE = (
    "Confirmed: the September spike is accurate due to enterprise deal close. "
    "Proceed with sending."
)
REASONS = {ParkReason.LOW_CONFIDENCE.value, ParkReason.REVIEW_RULE.value}
LOOK_S = 0.1


class Failed(Exception):
    """The story cannot be told here."""


class Story:
    """One telling; `timeout_s` is for all of it."""

    def __init__(self, timeout_s: float) -> None:
        self.began = time.monotonic()
        self.deadline = self.began + timeout_s

    def tell(self) -> tuple[dict[str, Any], str]:
        """The result, and what is wrong with it ("" if nothing is).

        Raises `Failed` if it could not even begin.
        """
        submitter, operator = people()
        try:
            run = runs.start(agent=agent(), by=submitter, inputs=INPUTS)
        except AgentOpsError as error:
            raise Failed(f"The task was not taken: {error}") from error
        problem = self._go_through(run, operator)
        result = self._result(run)
        if problem:
            _give_up(run, submitter)
        return result, problem or _judged(result)

    def _go_through(self, run: Run, operator: User) -> str:
        review = self._wait(run)
        if review is None:
            return self._late("did not park")
        if isinstance(review, Run):
            return f"The run ended ({review.state}) before anybody was asked."
        if review.reason not in REASONS or review.proposal.get("tool") != TOOL:
            return f"The run parked for another reason: {review.question}"
        try:
            _approve(review, operator)
        except AgentOpsError as error:
            return f"The approval was not taken: {error}"
        end = self._wait(run)
        if isinstance(end, Review):
            return f"The run parked again: {end.question}"
        return "" if end is not None else self._late("did not end")

    def _result(self, run: Run) -> dict[str, Any]:
        run.refresh_from_db()
        return {
            "state": run.state,
            "emails_sent": mails_of(run),
            "human_escalations": Transition.objects.filter(
                run=run, to_state=RunState.AWAITING_HUMAN.value
            ).count(),
            "steps": run.sequence,
            "seconds": round(time.monotonic() - self.began, 2),
        }

    def _wait(self, run: Run) -> Review | Run | None:
        """Where the run came to rest, or None when the time is up."""
        while time.monotonic() < self.deadline:
            found = _at_rest(run)
            if found is not None:
                return found
            time.sleep(LOOK_S)
        return None

    def _late(self, what: str) -> str:
        seconds = time.monotonic() - self.began
        return f"The run {what} within {seconds:.0f} s. Does the worker keep up?"


def _approve(review: Review, by: User) -> None:
    services.decide(
        review.pk,
        by=by,
        kind="approve",
        item_version=review.version,
        digest=review.digest,
        payload={"note": NOTE},
    )


def mails_of(run: Run) -> int:
    """Mails in the mailbox that calls of this run have left there."""
    calls = Effect.objects.filter(run=run, tool=TOOL).values_list("key", flat=True)
    return sum(count_with_key(key, kept_in()) for key in calls)


def agent() -> Agent:
    """The agent of the story, made or brought up to date.

    It is off for everybody else: only the object returned here can be started.
    """
    database = settings.VAR_DIR / f"{SLUG}.sqlite3"
    make(f"sqlite:///{database}", TABLES)
    fields = copy.deepcopy(QUARTERLY_METRICS) | {
        "name": "Smoke test",
        "description": "Used by manage.py smoke. Mails into files only.",
        "model": DEMO_MODEL,
        "check_model": DEMO_MODEL,
        "threshold": Decimal("0.75"),
        "limits": dict(LIMITS),
        "enabled": False,
    }
    fields.pop("slug")
    fields["grants"]["query_database"]["settings"] = {
        "database": f"sqlite:///{database}"
    }
    fields["grants"][TOOL]["settings"] = {"mailbox": "files"}
    found, _ = Agent.objects.update_or_create(slug=SLUG, defaults=fields)
    found.deciders.set([Group.objects.get(name=DECIDERS)])
    found.enabled = True
    return found


def people() -> tuple[User, User]:
    """Submitter and operator; nobody can sign in as them, nor mail them."""
    decides = Permission.objects.get(codename="decide_review")
    group, _ = Group.objects.get_or_create(name=DECIDERS)
    group.permissions.add(decides)
    return _person(SUBMITTER, "submitters"), _person(OPERATOR, DECIDERS)


def worker_if_none() -> Child | None:
    """A worker for the time of the test, where none gives a sign of life."""
    if health.worker_beats():
        return None
    argv = [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"]
    return Child("worker", argv, dict(os.environ), settings.BASE_DIR, quiet=True)


def _person(name: str, group: str) -> User:
    user, is_new = User.objects.get_or_create(username=name, defaults={"email": ""})
    if is_new:
        user.set_unusable_password()
        user.save()
    user.groups.set([Group.objects.get(name=group)])
    return user


def _at_rest(run: Run) -> Review | Run | None:
    """The review it waits for, or the run itself once it has ended."""
    review = Review.objects.open().filter(run=run).first()
    if review is not None:
        return review
    run.refresh_from_db(fields=["state"])
    return run if RunState(run.state).is_final else None


def _give_up(run: Run, by: User) -> None:
    """Leave nothing behind that still runs or waits."""
    try:
        runs.cancel(run.pk, by=by, reason="The smoke test failed.")
    except Stale:
        return


def _judged(result: dict[str, Any]) -> str:
    wanted = {
        "state": RunState.COMPLETED.value,
        "emails_sent": 1,
        "human_escalations": 1,
    }
    wrong = [
        f"{name} is {result[name]}, not {value}"
        for name, value in wanted.items()
        if result[name] != value
    ]
    if wrong and result["emails_sent"] == 0:
        wrong.append(f"mail was looked for in {kept_in()}")
    return "; ".join(wrong)
