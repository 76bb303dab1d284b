"""A small disk that a test may fill, and have back."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

FILLER = "filler"


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A tmpfs of that size at the folder; skips the test, with the reason, where
    mounting is not allowed."""
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("there is no mount here")
    folder.mkdir()
    size = f"size={megabytes}m"
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", size, "agentops-test", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S607


def fill(folder: Path) -> None:
    """Until there is no room for another byte."""
    with contextlib.suppress(OSError), (folder / FILLER).open("ab", 0) as file:
        while True:
            file.write(b"x" * 4096)


def make_room(folder: Path) -> None:
    (folder / FILLER).unlink()
