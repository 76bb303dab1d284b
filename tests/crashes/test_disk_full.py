"""The disk of the SQLite file is full: said aloud, nothing lost, and on it goes."""

from __future__ import annotations

import http.client
import shutil
from urllib.parse import urlsplit

import pytest
from django.conf import settings

from runs.models import Step
from tests.support import databases, disks
from tests.support.fleet import assert_well, assert_whole, fleet, wait_until_finished
from tests.support.signed_in import TOKEN
from tests.support.wait import wait_until

pytestmark = [pytest.mark.process, pytest.mark.once]

RUNS = 6
TURNS = 6
LONG_S = 60.0
MEGABYTES = 8


@pytest.fixture
def cramped(live_project, migrated_database, tmp_path):
    """Runs under way in a database on a disk that is small."""
    with (
        disks.small_disk(tmp_path / "disk", MEGABYTES) as disk,
        fleet(live_project, number=TURNS, delay_s=0.5) as made,
    ):
        file = disk / "live.sqlite3"
        shutil.copyfile(migrated_database.removeprefix("sqlite:///"), file)
        project = made.at(tmp_path / "site", f"sqlite:///{file}")
        with databases.rows_of(project.database_url):
            project.start_web()
            project.start_worker()
            made.start_runs(RUNS)
            wait_until(lambda: Step.objects.count() > RUNS, what="steps")
            yield project, disk, made.model


def sign_in_page(project):
    """Its answer to a sign-in, which has to write who has tried."""
    host = urlsplit(project.url).netloc
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(
        "POST",
        "/accounts/login/",
        f"csrfmiddlewaretoken={TOKEN}&username=fleet&password=wrong",
        {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"{settings.CSRF_COOKIE_NAME}={TOKEN}",
        },
    )
    answer = connection.getresponse()
    page = answer.read().decode()
    connection.close()
    return answer.status, page


def test_a_full_disk_is_said_and_nothing_is_lost(cramped):
    project, disk, model = cramped

    disks.fill(disk)
    wait_until(
        lambda: "database or disk is full" in project.log("worker"),
        timeout_s=LONG_S,
        what="a line about it",
    )
    status, page = sign_in_page(project)
    disks.make_room(disk)

    assert (status, "no space left" in page) == (503, True)
    assert "database or disk is full" in project.log("web")
    wait_until_finished(LONG_S)
    assert_whole()
    assert len(model.requests) == RUNS * (TURNS + 1)
    assert "Traceback" not in project.log("web")
    assert project.terminate("web") == 0
    assert_well(project)
