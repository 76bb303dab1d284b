"""The tool."""

from __future__ import annotations

import os
import signal

from runs.tools.base import Effect, tool


@tool(effect=Effect.READ, keeps_deadline=True)
def die() -> str:
    """End the process that runs this."""
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"
