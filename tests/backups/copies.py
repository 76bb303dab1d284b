"""Backups as docs/backup.md describes them, and databases made from them."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.support import databases


def back_up(url: str, to: Path) -> Path:
    """A consistent copy of a database that is in use."""
    if databases.is_postgres(url):
        _run("pg_dump", "--format=custom", f"--file={to}", f"--dbname={url}")
        return to
    path = url.removeprefix("sqlite:///")
    with (
        contextlib.closing(sqlite3.connect(path)) as live,
        contextlib.closing(sqlite3.connect(to)) as copy,
    ):
        live.backup(copy)
    return to


@contextlib.contextmanager
def restored(backup: Path, folder: Path) -> Iterator[str]:
    """A new database with what the backup has; its URL."""
    with databases.fresh(folder) as url:
        if databases.is_postgres(url):
            _run("pg_restore", "--no-owner", f"--dbname={url}", str(backup))
        else:
            backup.rename(url.removeprefix("sqlite:///"))
        yield url


def _run(program: str, *arguments: str) -> None:
    """Of the same release as the server that the tests start."""
    command = [str(databases.program(program)), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{program}: {done.stderr}"
