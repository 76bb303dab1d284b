"""A process dies at the point that is named, and at no other."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
from runs import points

@points.write("thing")
def write():
    print("writes", flush=True)
    points.reach("inside thing")

write()
write()
print("ends", flush=True)
"""


@pytest.mark.parametrize(
    ("at", "printed", "code"),
    [
        ("", ["writes", "writes", "ends"], 0),
        ("elsewhere", ["writes", "writes", "ends"], 0),
        ("before thing", [], -9),
        ("inside thing", ["writes"], -9),
        ("after thing#2", ["writes", "writes"], -9),
        ("before thing#3", ["writes", "writes", "ends"], 0),
    ],
)
def test_it_dies_where_it_is_told_to(at, printed, code):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"AGENTOPS_CRASH_AT": at},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.split(), done.returncode) == (printed, code)
