"""Who may import whom: the contracts in pyproject.toml hold."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.once


def test_the_import_contracts_hold():
    code = "from importlinter.cli import lint_imports_command as go; go()"
    command = [sys.executable, "-c", code, "--no-cache", "--no-logo"]

    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
