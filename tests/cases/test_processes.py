"""Cases D03 and H05: a web server and a worker tree of their own on one database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User

from reviews.models import Review
from runs.models import Agent, Run
from runs.services import start
from tests.support.fleet import assert_whole, turns, wait_until_finished
from tests.support.project import LiveProject, model_at
from tests.support.provider import ScriptedProvider
from tests.support.replies import Answer, calls, text
from tests.support.signed_in import TOKEN, cookies_of
from tests.support.wait import wait_until

pytestmark = pytest.mark.process

RUNS = 20
PEOPLE = 4
LONG_S = 60.0
MAIL = {"to": ["ana@example.com"], "subject": "Hello", "body_markdown": "Fine."}


def browser(project: LiveProject, user: User) -> httpx2.Client:
    return httpx2.Client(base_url=project.url, cookies=cookies_of(user), timeout=30)


def post(client: httpx2.Client, path: str, **fields: Any) -> int:
    sent = fields | {"csrfmiddlewaretoken": TOKEN}
    return client.post(path, data=sent).status_code


def made_agent(**grants: Any) -> Agent:
    return Agent.objects.create(
        slug="fleet",
        name="Fleet",
        prompt="You count.",
        plan_first=False,
        grants=grants,
        limits={"money": None, "steps": None},
    )


@pytest.mark.once  # PostgreSQL locks rows, not files
def test_d03_twenty_runs_from_many_people_meet_no_locked_database(live_project):
    with ScriptedProvider(then=turns(3, 0.02)).serve() as base_url:
        project = live_project(**model_at(base_url))
        made_agent(calculate={"policy": "auto"})
        people = [User.objects.create_superuser(f"p{n}") for n in range(PEOPLE)]
        browsers = [browser(project, person) for person in people]

        def submit(number: int) -> tuple[int, int]:
            client = browsers[number % PEOPLE]
            task = {
                "agent": "fleet",
                "task": f"Count {number}.",
                "key": f"key-{number}",
            }
            sent = post(client, "/runs/new/", **task)
            return sent, client.get("/runs/").status_code

        with ThreadPoolExecutor(PEOPLE) as pool:
            answers = list(pool.map(submit, range(RUNS)))
        for client in browsers:
            client.close()
        wait_until_finished(LONG_S)

    assert answers == [(302, 200)] * RUNS
    assert Run.objects.count() == RUNS
    assert_whole()
    for log in (project.log("web"), project.log("worker")):
        assert "OperationalError" not in log
        assert "is locked" not in log
        assert "Traceback" not in log


def letter(body: dict[str, Any]) -> Answer:
    done = any(message["role"] == "tool" for message in body["messages"])
    return text("Done.") if done else calls(("send_email", MAIL))


def test_h05_an_approval_after_a_restart_of_all_processes_resumes(live_project):
    with ScriptedProvider(then=letter).serve() as base_url:
        project = live_project(**model_at(base_url))
        agent = made_agent(send_email={"policy": "always"})
        ana = User.objects.create_superuser("ana", "ana@example.com")
        start(
            agent=agent, by=User.objects.create_superuser("sue"), task="Write a letter."
        )
        wait_until(Review.objects.exists, timeout_s=LONG_S, what="a review")

        for name in ("worker", "web"):
            assert project.terminate(name) == 0
        project.start_web()
        project.start_worker()
        review = Review.objects.get()
        seal = {"item_version": review.version, "digest": review.digest}
        way = f"/reviews/{review.pk}/decide/approve/"
        with browser(project, ana) as client:
            status = post(client, way, **seal)
        wait_until_finished(LONG_S)

    letters = [mail for mail in project.mails() if "Subject: Hello" in mail]
    assert (status, len(letters)) == (302, 1)
    assert Run.objects.get().state == "completed"
