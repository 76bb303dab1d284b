"""Setting up: what is wrong is one line, not a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.project import ROOT

pytestmark = pytest.mark.once


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Enough of the project to set it up, with an empty list of requirements."""
    (tmp_path / "requirements").mkdir()
    script = ROOT / "requirements" / "install.sh"
    shutil.copy(script, tmp_path / "requirements")
    (tmp_path / "requirements" / "base.txt").write_text("")
    return tmp_path


def install(checkout: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "requirements/install.sh", "base"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "PYTHON": sys.executable, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def a_python(folder: Path, script: str) -> str:
    path = folder / "python-of-a-test"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_an_old_python_is_told_in_one_line(checkout):
    old = a_python(checkout, '[ "$1" = --version ] && echo Python 3.9.2; exit 1')

    done = install(checkout, PYTHON=old)

    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "needs Python 3.11 or newer; found:" in done.stderr


def test_a_missing_venv_module_is_told_with_its_cure(checkout):
    bare = a_python(
        checkout,
        '[ "$2" = venv ] && { echo "ensurepip is not available"; exit 1; }; exit 0',
    )

    done = install(checkout, PYTHON=bare)

    assert done.returncode != 0
    assert done.stderr.count("\n") == 1
    assert "python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_what_is_installed_is_left_alone_and_a_failure_is_one_line(checkout):
    first = install(checkout)
    second = install(checkout)
    wrong = "agentops==0 --hash=sha256:" + "0" * 64
    (checkout / "requirements" / "base.txt").write_text(wrong)
    third = install(checkout, PIP_NO_INDEX="1")

    assert (first.returncode, second.returncode) == (0, 0)
    assert "Installing" in first.stdout
    assert second.stdout == ""
    assert third.returncode != 0
    assert third.stderr.count("\n") == 1
    assert "the requirements could not be installed" in third.stderr
