"""A tool's call in a process of its own, which is killed at the deadline.

The child is a fresh interpreter: nothing of the caller's threads, locks, sockets
or connections is in it. It dies with the process that started it (on Linux), and
gets one JSON object and gives one. What a tool prints goes to the log.
`python -m runs.tools.isolation` is the child.
"""

from __future__ import annotations

import ctypes
import json
import logging
import os
import signal
import sys
from importlib import import_module
from typing import Any

from runs import errors
from runs.canonical import Json, clean, clean_text
from runs.classify import named
from runs.errors import StepError, TimedOut
from runs.tools.base import Context, Deadline, ToolSpec
from runs.tools.children import Ended, answer_of

logger = logging.getLogger(__name__)

RESULT_MAX = 64_000_000
_DIE_WITH_PARENT = 1


class ChildFailed(Exception):
    """The child raised something of its own, or ended without an answer."""


def perform_in_child(
    spec: ToolSpec, arguments: dict[str, Json], context: Context
) -> Json:
    """The result, cleaned.

    Raises what the tool raised if it is a `StepError`, `TimedOut` when the child
    had to be killed, and `ChildFailed` for anything else. Safe from any thread.
    """
    request = json.dumps(_request(spec, arguments, context)).encode()
    try:
        ended = answer_of(
            [sys.executable, "-m", __spec__.name],
            request,
            context.deadline,
            most_bytes=RESULT_MAX,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except TimedOut:
        raise TimedOut(f"{spec.name} did not answer within its deadline.") from None
    return _result(spec, ended)


def _request(
    spec: ToolSpec, arguments: dict[str, Json], context: Context
) -> dict[str, Json]:
    function = spec.function
    return {
        "parent": os.getpid(),
        "module": function.__module__,
        "attribute": function.__qualname__,
        "arguments": arguments,
        "context": {
            "run_id": context.run_id,
            "step": context.step,
            "key": context.key,
            "at": context.deadline.at,
            "attempt": context.attempt,
            "settings": clean(context.settings),
        },
    }


def _result(spec: ToolSpec, ended: Ended) -> Json:
    if not ended.answer:
        raise ChildFailed(f"The process of {spec.name} ended with {ended.code}.")
    said = json.loads(ended.answer)
    if "error" in said:
        raise _error(said["error"])
    return said["result"]


def _error(said: dict[str, Json]) -> Exception:
    kind = getattr(errors, said["type"], None)
    if kind is None:
        return ChildFailed(said["message"])
    error: StepError = kind(said["message"])
    for name, value in said["attributes"].items():
        setattr(error, name, value)
    return error


def main() -> None:
    """What the child does: read one call, carry it out, write one answer."""
    _die_with_parent()
    request = json.loads(sys.stdin.buffer.read())
    if os.getppid() != request["parent"]:
        return
    out = os.dup(1)
    os.dup2(2, 1)
    answer = json.dumps(_answer(request)).encode()
    if len(answer) > RESULT_MAX:
        # No error: the call has had its effect.
        words = f"The result has {len(answer)} bytes and was not kept: ask for less."
        answer = json.dumps({"result": words}).encode()
    with os.fdopen(out, "wb") as file:
        file.write(answer)
    logging.shutdown()
    # Now, whatever threads the tool has left.
    os._exit(0)


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _answer(request: dict[str, Json]) -> dict[str, Json]:
    try:
        _set_up_django()
        spec = _spec(request["module"], request["attribute"])
        context = dict(request["context"])
        deadline = Deadline(context.pop("at"))
        result = spec.call(request["arguments"], Context(deadline=deadline, **context))
        return {"result": clean(result)}
    except Exception as error:
        if not isinstance(error, StepError):
            logger.exception("A tool failed in its own process")
        return {"error": _described(error)}


def _set_up_django() -> None:
    if os.environ.get("DJANGO_SETTINGS_MODULE"):
        import django

        django.setup()


def _spec(module: str, attribute: str) -> ToolSpec:
    found: Any = import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    if not isinstance(found, ToolSpec):
        raise TypeError(f"{module}.{attribute} is not a tool")
    return found


def _described(error: Exception) -> dict[str, Json]:
    """An error as JSON: the nearest class of `runs.errors`, and its attributes."""
    if not isinstance(error, StepError):
        return {"type": "", "message": clean_text(named(error)), "attributes": {}}
    kind = next(c for c in type(error).__mro__ if c.__module__ == errors.__name__)
    return {
        "type": kind.__name__,
        "message": clean_text(error.message),
        "attributes": clean(vars(error)),
    }


if __name__ == "__main__":
    main()
