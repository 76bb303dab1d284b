"""The way to services outside: one try in a process of its own, killed in time.

`reviews.posting` is that process. The address goes to it through a pipe, never as an
argument, and comes back in no answer: it may hold a secret.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from agentops.conf import product
from reviews.notifiers.base import Undeliverable
from runs.canonical import Json

CHILD = "reviews.posting"
GRACE_S = 3.0
"""What starting the process may take over and above the deadline of its try."""
_DIRECT = {"NO_PROXY": "*", "no_proxy": "*", "NETRC": os.devnull}


@dataclass(frozen=True)
class Service:
    """A service as apprise knows it: `options` are arguments of its plug-in."""

    channel: str
    url: str
    options: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """`level` is info, success, warning or failure; `format` text or markdown."""

    title: str
    body: str
    level: str = "info"
    format: str = "text"


def check(service: Service) -> None:
    """Raises ValueError if apprise cannot make a service of it. Sends nothing."""
    if problem := _answer(service, None).get("problem"):
        raise ValueError(problem)


def post(service: Service, said: Said) -> None:
    """Make one try; raises `Undeliverable`. Ends within `notify_deadline_s`, or so."""
    answer = _answer(service, said)
    if "problem" in answer:
        raise Undeliverable(answer["problem"], permanent=answer["permanent"])


def private_hosts() -> tuple[str, ...]:
    """The hosts, addresses and networks inside that may be reached."""
    words = product().notify_private_hosts.replace(",", " ").lower().split()
    return tuple(words)


def _answer(service: Service, said: Said | None) -> dict[str, Json]:
    within_s = product().notify_deadline_s
    request = {
        "channel": service.channel,
        "url": service.url,
        "options": dict(service.options),
        "said": asdict(said) if said else None,
        "private": private_hosts(),
        "within_s": within_s,
    }
    child = _start()
    try:
        out, _ = child.communicate(json.dumps(request).encode(), within_s + GRACE_S)
    except subprocess.TimeoutExpired:
        out = b""
    finally:
        _end(child)
    if not out:
        words = f"It did not answer within {within_s:g} seconds."
        return {"problem": words, "permanent": False}
    answer: dict[str, Json] = json.loads(out)
    return answer


def _start() -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-m", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A traceback could quote the address.
        stderr=subprocess.DEVNULL,
        env=os.environ | _DIRECT | {"PYTHONPATH": paths},
        start_new_session=True,
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    """Leave neither process nor pipe."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
