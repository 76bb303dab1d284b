"""The smoke test says whether an installation works, and mails nobody."""

from __future__ import annotations

import json
import socket

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler

from reviews import smoke
from reviews.models import Notification
from runs.models import Agent, Run
from runs.tools import registry
from tests.support import factory

RIGHT = {"state": "completed", "emails_sent": 1, "human_escalations": 1}


class Inbox(MessageHandler):
    def __init__(self):
        super().__init__()
        self.mails = []

    def handle_message(self, message):
        self.mails.append(message)


@pytest.fixture
def mail_server():
    """A real one: what it took, and the variables that name it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    inbox = Inbox()
    server = Controller(inbox, hostname="127.0.0.1", port=port)
    server.start()
    env = {
        "EMAIL_HOST": "127.0.0.1",
        "EMAIL_PORT": str(port),
        "EMAIL_SECURITY": "none",
        "EMAIL_FILE_PATH": "",
    }
    yield inbox.mails, env
    server.stop()


def result_of(done):
    """The one line on stdout."""
    (line,) = done.stdout.splitlines()
    return json.loads(line)


@pytest.mark.process
def test_it_tells_the_story_with_the_worker_that_runs(live_project, mail_server):
    mails, env = mail_server
    project = live_project(web=False, OPENAI_API_KEY="of-nobody", **env)
    factory.make_user("ana", "operators")

    done = project.manage("smoke", "--timeout", "60")

    result = result_of(done)
    assert result == result | RIGHT
    assert set(result) == {*RIGHT, "steps", "seconds"}
    assert "No worker" not in done.stderr
    assert mails == []
    assert Notification.objects.count() == 0
    assert len(list((project.folder / "var" / "mail").glob("*.eml"))) == 1


@pytest.mark.process
@pytest.mark.once
def test_it_brings_a_worker_of_its_own_and_takes_it_along(live_project):
    project = live_project(web=False, worker=False)

    done = project.manage("smoke", "--timeout", "60")
    again = project.manage("smoke", "--timeout", "60")

    assert "No worker runs" in done.stderr
    assert result_of(done) == result_of(done) | RIGHT
    assert result_of(again) == result_of(again) | RIGHT
    assert Run.objects.count() == 2
    assert Agent.objects.get(slug=smoke.SLUG).versions.count() == 1
    assert project.survivors() == []


@pytest.mark.process
@pytest.mark.once
def test_it_fails_in_time_and_leaves_nothing_that_runs(live_project):
    project = live_project(web=False, worker=False)

    done = project.manage("smoke", "--timeout", "0.1", check=False)

    assert done.returncode == 1
    assert result_of(done)["state"] != "completed"
    assert "did not park" in done.stderr
    assert Run.objects.get().state == "aborted"
    assert project.survivors() == []


@pytest.mark.django_db
def test_nobody_can_sign_in_as_its_people_or_mail_them():
    for person in smoke.people():
        assert not person.has_usable_password()
        assert person.email == ""


@pytest.mark.django_db
def test_its_agent_is_off_for_everybody_else(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    smoke.people()

    agent = smoke.agent()

    assert agent.enabled
    assert not Agent.objects.get(slug=smoke.SLUG).enabled
    assert set(agent.grants) <= {spec.name for spec in registry.all_specs()}


@pytest.mark.parametrize(
    ("field", "value"),
    [("state", "error"), ("emails_sent", 2), ("human_escalations", 0)],
)
def test_anything_else_than_the_story_is_wrong(field, value, settings, tmp_path):
    settings.VAR_DIR = tmp_path

    assert smoke._judged(RIGHT) == ""
    assert field in smoke._judged(RIGHT | {field: value})
