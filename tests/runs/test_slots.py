"""Slots: one driver each, free again when its process ends."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from runs import slots
from tests.support.project import ROOT

HOLD = """
import os, sys
os.environ["AGENTOPS_VAR"] = sys.argv[1]
import django
django.setup()
from runs import slots
slot = slots.take(1)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(folder, script):
    """A process that holds slot 1 until its input ends."""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "agentops.settings"},
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"
        yield holder


@pytest.fixture(autouse=True)
def folder(settings, tmp_path):
    settings.VAR_DIR = tmp_path


def test_a_slot_is_taken_once():
    slot = slots.take(1)

    assert slot
    assert slots.take(1) is None
    slot.free()
    assert slots.take(1)


def test_the_first_free_one_is_taken():
    slots.take(1)

    second = slots.take_first(range(1, 3))

    assert second
    assert second.number == 2
    assert slots.take_first(range(1, 3)) is None


def test_asking_takes_nothing():
    assert slots.is_free(1)
    assert slots.is_free(1)
    assert slots.take(1)
    assert not slots.is_free(1)


@pytest.mark.process
def test_a_killed_process_leaves_its_slot_free(tmp_path):
    with holding(tmp_path, HOLD) as holder:
        assert not slots.is_free(1)

        holder.kill()
        holder.wait(5)

        assert slots.is_free(1)


@pytest.mark.process
def test_a_forked_child_does_not_keep_the_slot_of_a_killed_parent(tmp_path):
    fork = HOLD.replace("print", "os.fork() or print")

    with holding(tmp_path, fork) as holder:
        holder.kill()
        holder.wait(5)

        assert slots.is_free(1)


def test_the_name_of_the_host_differs_by_folder(settings, tmp_path):
    here = slots.host()
    settings.VAR_DIR = tmp_path / "other"

    assert slots.host() != here
    settings.VAR_DIR = tmp_path
    assert slots.host() == here
