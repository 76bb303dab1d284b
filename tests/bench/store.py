"""What a PostgreSQL wrote and used: WAL bytes, commits, processor time."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg


class Store:
    """Looks at the server behind a URL. Commits and CPU need it on this machine."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self.version = self._connection.info.server_version // 10_000
        self._folder = Path(self._ask("SHOW data_directory"))
        self._pid = int((self._folder / "postmaster.pid").read_text().split()[0])
        # Its own tools know its WAL, whatever else is installed.
        self._waldump = Path(psutil.Process(self._pid).exe()).parent / "pg_waldump"

    def place(self) -> int:
        """Bytes of WAL flushed since ever."""
        return int(self._ask("SELECT pg_current_wal_flush_lsn() - '0/0'"))

    def commits(self, since: int) -> int:
        """Commit records in the WAL since a place; each is one transaction."""
        arguments = ["-p", str(self._folder / "pg_wal"), "-r", "Transaction"]
        dump = subprocess.run(
            [str(self._waldump), *arguments, "-s", _lsn(since), "-e", self._end()],
            capture_output=True,
            text=True,
            check=False,
        )
        return dump.stdout.count("desc: COMMIT")

    def cpu_s(self) -> float:
        """Processor time of all its processes, ended ones included."""
        server = psutil.Process(self._pid)
        total = 0.0
        for process in [server, *server.children(recursive=True)]:
            with suppress(psutil.Error):
                used = process.cpu_times()
                total += used.user + used.system
                if process.pid == self._pid:
                    total += used.children_user + used.children_system
        return total

    def checkpoint(self) -> None:
        """So that none falls into a measurement unasked."""
        self._connection.execute("CHECKPOINT")

    def close(self) -> None:
        self._connection.close()

    def _end(self) -> str:
        return _lsn(self.place())

    def _ask(self, question: str) -> str:
        row = self._connection.execute(question.encode()).fetchone()
        assert row is not None
        return str(row[0])


def _lsn(place: int) -> str:
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"
