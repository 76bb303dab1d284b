"""The tests' own tools: a live project leaves nothing behind, a browser starts."""

from __future__ import annotations

import sys
import threading

import pytest
from django.contrib.auth.models import User

from runs.models import Agent, AgentVersion
from tests.support import wait
from tests.support.wait import cut_short, wait_until


def test_waiting_gives_up_with_the_name_of_what_was_awaited():
    with pytest.raises(AssertionError, match="snow did not come true"):
        wait_until(lambda: False, timeout_s=0.01, what="snow")


def test_what_is_not_cut_short_is_said(monkeypatch):
    monkeypatch.setattr(wait, "HANGS_S", 0.01)

    with pytest.raises(AssertionError, match="it took"), cut_short():
        threading.Event().wait(0.02)


@pytest.mark.process
def test_a_live_project_answers_and_shares_its_rows(live_project):
    project = live_project(worker=False)

    User.objects.create_user("somebody")
    counted = project.manage(
        "shell",
        "-c",
        "from django.contrib.auth.models import User as U; print(U.objects.count())",
    )

    assert project.status("/accounts/login/") < 600
    assert counted.stdout.split()[-1] == "1"


@pytest.mark.process
def test_stopping_a_live_project_ends_orphans_too(live_project):
    project = live_project(web=False, worker=False)
    fork = "import os, time; os.fork() or os.setsid(); time.sleep(600)"
    project.start("parent", sys.executable, "-c", fork)
    wait_until(lambda: len(project.survivors()) == 2, what="the fork")

    project.tree("parent")[0].kill()
    project.stop()

    assert project.survivors() == []


@pytest.mark.browser
def test_the_browser_shows_a_page(chromium):
    page = chromium.new_page()

    page.set_content("<h1>Hello</h1>")

    assert page.inner_text("h1") == "Hello"
    page.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("time", ["first", "second"])
def test_transactional_tests_begin_with_what_migrations_made(time, people):
    assert people.operator.has_perm("reviews.decide_review")
    assert not people.submitter.has_perm("reviews.decide_review")
    assert User.objects.count() == 5

    agent = Agent.objects.create(slug="kept", prompt="Do it.")
    AgentVersion.objects.create(agent=agent, number=1, config={}, digest="0")
