"""The demo starts with one command, goes on when a part dies, and stops clean."""

from __future__ import annotations

import re
import signal
import socket
import sys
from functools import partial

import psutil
import pytest
from django.contrib.auth.models import User

from reviews import smoke
from reviews.samples import people
from runs.models import Agent
from tests.support import factory
from tests.support.project import ROOT
from tests.support.wait import wait_until

pytestmark = [pytest.mark.process, pytest.mark.once]


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture
def project(live_project):
    return live_project(web=False, worker=False)


def start(project, port, times=1):
    """Start the demo and wait until it says where it is, for the so many-th time."""
    project.url = f"http://127.0.0.1:{port}"
    manage = [sys.executable, str(ROOT / "manage.py"), "demo", "--port", str(port)]
    project.start("demo", *manage)
    wait_until(
        lambda: project.log("demo").count("Ctrl-C") == times,
        timeout_s=60,
        what="the demo's start",
    )


def worker_of(project):
    """The demo's own child that is the worker."""

    def found():
        children = psutil.Process(project.pid("demo")).children()
        return [p for p in children if p.cmdline()[-1:] == ["worker"]]

    (worker,) = wait_until(found, what="the worker's process")
    return worker


def test_it_starts_all_stops_all_and_keeps_people_for_the_next_time(project, port):
    start(project, port)

    assert project.status("/accounts/login/") == 200
    wait_until(lambda: project.status("/readyz") == 200, timeout_s=20)
    said = project.log("demo")
    assert f"http://127.0.0.1:{port}" in said
    assert all(name in said for name in people.SIGN_INS)
    assert "Traceback" not in said
    assert Agent.objects.filter(slug="quarterly-metrics").exists()
    assert project.terminate("demo", timeout_s=20) == 0
    wait_until(lambda: project.survivors() == [], what="nothing being left")

    start(project, port, times=2)
    project.terminate("demo", timeout_s=20)

    passwords = re.findall(r"password (\S+)\)", project.log("demo"))
    assert len(passwords) == 2
    assert len(set(passwords)) == 1
    assert User.objects.count() == len(people.SIGN_INS)


def has_restarted(project, times):
    return project.log("demo").count("Starting it") == times


def test_a_worker_that_dies_is_started_again_but_not_for_ever(project, port):
    start(project, port)

    for death in (1, 2):
        worker_of(project).kill()
        wait_until(partial(has_restarted, project, death))
    worker_of(project).kill()

    wait_until(lambda: "once too often" in project.log("demo"))
    assert "worker was ended by SIGKILL" in project.log("demo")
    wait_until(lambda: project.survivors() == [], timeout_s=20)


def test_nothing_outlives_a_demo_that_is_killed(project, port):
    start(project, port)

    psutil.Process(project.pid("demo")).send_signal(signal.SIGKILL)

    wait_until(lambda: project.survivors() == [], timeout_s=20)


def test_a_busy_port_is_one_line(project):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy = str(taken.getsockname()[1])
        done = project.manage("demo", "--port", busy, check=False)

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"Port {busy}" in line
    assert "--port" in line


def test_a_database_that_is_not_there_is_one_line(project, port):
    project.env["DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/none"

    for command in (["demo", "--port", str(port)], ["smoke", "--timeout", "1"]):
        done = project.manage(*command, check=False)

        assert done.returncode == 1
        assert "The database cannot be used" in done.stderr
        assert "Traceback" not in done.stderr


def test_it_keeps_away_from_a_database_with_people_of_its_own(project, port):
    smoke.people()
    assert not people.is_of_somebody(project.folder)
    factory.make_user("ana", "operators")

    done = project.manage("demo", "--port", str(port), check=False)

    assert done.returncode == 1
    assert "DATABASE_URL" in done.stderr
