"""A live project that many tests use one after another, each finding it untouched.

Starting processes and signing in takes longer than most pages take to look at. So
the processes stay, and the rows are put back between the tests: what the tests'
runs left is ended by the product itself, then every table gets the rows of the
scene again, but for those that the worker keeps for itself. SQLite only.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from django.conf import global_settings
from django.contrib.auth.models import User
from django.test import override_settings

from runs import services
from runs.models import Run
from runs.states import FINAL
from tests.browser.story import Story, set_the_scene, tell
from tests.support import databases
from tests.support.project import LiveProject
from tests.support.wait import wait_until

THE_WORKER_S = (
    *("django_q_", "runs_driver", "django_migrations", "sqlite_"),
    "runs_lineage",  # or the product finds, rightly, that its database went back
)
STARTS = {"web": LiveProject.start_web, "worker": LiveProject.start_worker}
BUSY_S = 20
_EMPTY = 'DELETE FROM main."{0}"'
_FILL = 'INSERT INTO main."{0}" SELECT * FROM copy."{0}"'


class Stage:
    """The project, and a copy of its rows as they were when the scene was set."""

    def __init__(self, project: LiveProject, *names: str) -> None:
        self.project = project
        self._names = names
        self._is_used = False
        self._live = project.database_url.removeprefix("sqlite:///")
        self._scene = self._copied("scene")
        self._story: tuple[Story, str] | None = None

    @contextmanager
    def used(self) -> Iterator[LiveProject]:
        """Its processes run, the ORM of this thread works on its rows."""
        with databases.rows_of(self.project.database_url):
            self.start()
            if self._is_used:
                # A setup that failed and is tried again was left without its end.
                self._put_back()
            self._is_used = True
            yield self.project
            self.start()
            self._put_back()
            self._is_used = False

    def start(self) -> None:
        """What does not run, as after a test that failed between kill and start."""
        for name in self._names:
            if not self.project.runs(name):
                STARTS[name](self.project)

    def tell(self) -> Story:
        """The story: played by the worker once, its rows are put there after that.

        Its mails are there the first time only.
        """
        if self._story is None:
            self._story = tell(self.project), self._copied("story")
        else:
            self._fill(self._story[1])
        return self._story[0]

    def _put_back(self) -> None:
        """All runs end, all rows are those of the scene, the mailbox is empty."""
        _end_runs()
        self._fill(self._scene)
        shutil.rmtree(self.project.mailbox, ignore_errors=True)

    def _copied(self, name: str) -> str:
        path = str(self.project.folder / f"{name}.sqlite3")
        with (
            closing(self._connect()) as live,
            closing(sqlite3.connect(path)) as copy,
        ):
            live.backup(copy)
        return path

    def _fill(self, copy: str) -> None:
        """Every table gets the rows of that copy."""
        with closing(self._connect()) as connection:
            connection.execute("ATTACH ? AS copy", [copy])
            connection.execute("BEGIN IMMEDIATE")
            with _without_triggers(connection):
                for table in _tables(connection):
                    connection.execute(_EMPTY.format(table))
                    connection.execute(_FILL.format(table))
            connection.execute("COMMIT")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._live, timeout=BUSY_S, isolation_level=None)


@contextmanager
def staged(
    folder: Path, template: str, env: Mapping[str, str], *, worker: bool
) -> Iterator[Stage]:
    """A web server and perhaps a worker, which run for the block from its first use."""
    with databases.fresh(folder, template) as url:
        project = LiveProject(folder, url, env)
        try:
            # Its processes check passwords as an installation does.
            with (
                databases.rows_of(url),
                override_settings(PASSWORD_HASHERS=global_settings.PASSWORD_HASHERS),
            ):
                set_the_scene(project)
            yield Stage(project, "web", *(["worker"] if worker else []))
        finally:
            project.stop()


def _end_runs() -> None:
    unfinished = Run.objects.exclude(state__in=[state.value for state in FINAL])
    if not Run.objects.exists():
        return
    admin = User.objects.get(username="admin")
    for run in unfinished.exclude(state="completing"):
        services.cancel(run.pk, by=admin, reason="The test is over.")
    held = Run.objects.exclude(lease_owner="")
    wait_until(lambda: not (unfinished | held).exists(), what="the end of all runs")


def _tables(connection: sqlite3.Connection) -> list[str]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in names if not name.startswith(THE_WORKER_S)]


@contextmanager
def _without_triggers(connection: sqlite3.Connection) -> Iterator[None]:
    """Some refuse to delete what happened."""
    wanted = "SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger'"
    triggers = connection.execute(wanted).fetchall()
    for name, _ in triggers:
        connection.execute(f'DROP TRIGGER "{name}"')
    yield
    for _, statement in triggers:
        connection.execute(statement)
