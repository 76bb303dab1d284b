"""The flag: seen by every process, and nobody's death can block it."""

from __future__ import annotations

import subprocess
import sys
import time

from runs.flag import Flag
from tests.support.project import ROOT

FAMILY = """
import os, sys
from runs.flag import Flag

to_child, to_parent = Flag(), Flag()
child = os.fork()
if child == 0:
    to_parent.set()
    os._exit(0 if to_child.wait(10) else 1)
heard = to_parent.wait(10)
to_child.set()
sys.exit(os.waitpid(child, 0)[1] or not heard)
"""


def test_a_child_sees_what_the_parent_sets_and_the_other_way_round():
    done = subprocess.run(
        [sys.executable, "-c", FAMILY], cwd=ROOT, timeout=30, check=False
    )

    assert done.returncode == 0


def test_waiting_ends_without_it():
    began = time.monotonic()

    assert not Flag().wait(0.05)
    assert time.monotonic() - began < 5


def test_it_stays_set():
    flag = Flag()
    assert not flag.is_set()

    flag.set()
    flag.set()

    assert flag.is_set()
    assert flag.wait(0)
