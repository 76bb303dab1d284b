"""What the tests of tools share: a context, and tools that misbehave.

The tools are module-level because a child process finds them by name.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import psutil

from runs.errors import InvalidCall, Transient
from runs.tools.base import Context, Deadline, Effect, tool
from runs.tools.isolation import RESULT_MAX

KEY = "ab" * 32


def context(
    seconds: float = 10.0, settings: Mapping[str, Any] | None = None, key: str = KEY
) -> Context:
    return Context(
        run_id="run",
        step=1,
        key=key,
        deadline=Deadline.after(seconds),
        settings=settings or {},
    )


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie"


@tool(effect=Effect.READ)
def sleeper(seconds: float) -> str:
    """Sleep."""
    time.sleep(seconds)
    return "slept"


@tool(effect=Effect.IRREVERSIBLE)
def acting_sleeper(seconds: float) -> str:
    """Sleep, and who knows what."""
    time.sleep(seconds)
    return "slept"


@tool(effect=Effect.READ, isolated=True)
def isolated_sleeper(pid_file: str) -> str:
    """Write the process id down, start a grandchild, then sleep for ever."""
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(99)"])
    with open(pid_file, "w") as file:  # noqa: PTH123 - one line of a child process
        file.write(f"{os.getpid()} {grandchild.pid}")
    time.sleep(99)
    return "slept"


@tool(effect=Effect.READ, isolated=True)
def isolated_echo(text: str, context: Context) -> dict[str, Any]:
    """Say the text and what the call knows."""
    print("a tool that prints")  # noqa: T201
    return {"text": text, "key": context.key, "settings": dict(context.settings)}


@tool(effect=Effect.READ, isolated=True)
def isolated_failure(kind: str) -> str:
    """Fail in the way that was asked for."""
    if kind == "transient":
        raise Transient("busy", retry_after=7.5)
    if kind == "invalid":
        raise InvalidCall("not like this")
    if kind == "bug":
        raise KeyError("lost")
    os.abort()


@tool(effect=Effect.IRREVERSIBLE, isolated=True)
def isolated_crash() -> str:
    """Die in the middle of an act."""
    os.abort()


@tool(effect=Effect.IRREVERSIBLE, isolated=True)
def isolated_leaver() -> str:
    """Leave a thread, and a process that has everything open, behind."""
    if os.fork() == 0:
        time.sleep(99)
    threading.Thread(target=time.sleep, args=(99,)).start()
    return "left"


@tool(effect=Effect.IRREVERSIBLE, isolated=True)
def isolated_giant() -> str:
    """Act, and have more to tell than is kept."""
    return "x" * (RESULT_MAX + 1)


@tool(effect=Effect.IRREVERSIBLE, isolated=True)
def isolated_exit() -> str:
    """End the process without a word."""
    os._exit(0)
