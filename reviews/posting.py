"""One message to Slack, Teams, PagerDuty or a webhook, in a process of its own.

`python -m reviews.posting` reads one request as JSON, makes one try through apprise
and writes one answer. A process, because apprise's timeouts are per read: one that
drips would hold its sender for ever, and a process can be killed. It ends itself at
the deadline as well, in case nobody is left to kill it. The only module that knows
apprise; it knows no rows and no settings.

Every connection goes to an address that was checked, whatever the library does:
redirects are off, and names are resolved here, once.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

import apprise
from apprise.plugins.custom_json import NotifyJSON
from apprise.plugins.pagerduty import NotifyPagerDuty
from apprise.plugins.slack import NotifySlack
from apprise.plugins.workflows import NotifyWorkflows
from urllib3.util import connection

from runs.canonical import Json
from runs.errors import InvalidCall, StepError
from runs.tools import sockets
from runs.tools.base import Deadline
from runs.tools.http_policy import Policy, Target

SERVICES: Mapping[str, type[apprise.NotifyBase]] = {
    "slack": NotifySlack,
    "teams": NotifyWorkflows,
    "pagerduty": NotifyPagerDuty,
    "webhook": NotifyJSON,
}
TRY_AGAIN = frozenset({408, 425, 429})
_STATUS = re.compile(r"error=(\d{3})\b")


class Problem(Exception):
    """Why nothing was delivered, without the address in it."""

    def __init__(self, words: str, *, permanent: bool) -> None:
        super().__init__(words)
        self.words = words
        self.permanent = permanent


class Ear(logging.Handler):
    """Hears what apprise says of a failure: nothing else tells the status."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.status = 0

    def emit(self, record: logging.LogRecord) -> None:
        if found := _STATUS.search(record.getMessage()):
            self.status = int(found[1])


def main() -> None:
    """Answer {} for delivered (or for a good address), or {"problem", "permanent"}."""
    request = json.loads(sys.stdin.buffer.read())
    signal.setitimer(signal.ITIMER_REAL, request["within_s"])
    with contextlib.redirect_stdout(sys.stderr):
        answer = answer_to(request)
    sys.stdout.write(json.dumps(answer))


def answer_to(request: dict[str, Json]) -> dict[str, Json]:
    try:
        service = _service(request)
        if request["said"]:
            _send(service, request)
    except Problem as problem:
        return {"problem": problem.words, "permanent": problem.permanent}
    return {}


def _service(request: dict[str, Json]) -> apprise.NotifyBase:
    """What apprise makes of the address; its own words may quote a secret."""
    kind = SERVICES[request["channel"]]
    asset = apprise.AppriseAsset(app_id="agentops", http_redirects=False)
    logging.getLogger("apprise").addHandler(logging.NullHandler())
    try:
        parsed = kind.parse_native_url(request["url"]) or kind.parse_url(request["url"])
        options = {
            **(parsed or {}),
            **request["options"],
            "asset": asset,
            "verify": True,
        }
        return kind(**options)
    except (TypeError, apprise.exception.AppriseException):
        words = "apprise makes no sense of this address."
        raise Problem(words, permanent=True) from None


def _send(service: apprise.NotifyBase, request: dict[str, Json]) -> None:
    said, ear = request["said"], Ear()
    logging.getLogger("apprise").addHandler(ear)
    failures: list[StepError | OSError] = []
    connection.create_connection = _checked(request, failures)
    sender = apprise.Apprise(asset=service.asset)
    sender.add(service)
    delivered = sender.notify(
        body=said["body"],
        title=said["title"],
        notify_type=said["level"],
        body_format=said["format"],
    )
    if not delivered:
        raise _problem(ear.status, failures)


def _checked(
    request: dict[str, Json], failures: list[StepError | OSError]
) -> Callable[..., socket.socket]:
    """Takes the place of urllib3's way to connect; keeps what it raises."""
    policy = Policy(private=tuple(request["private"]))
    deadline = Deadline.after(request["within_s"])

    def create(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        host, port = address
        target = Target("https", host.strip("[]").lower().rstrip("."), port, "/")
        try:
            found = policy.addresses(target, deadline)
            return sockets.connect(found, port, deadline)
        except OSError as error:
            failures.append(error)
            raise
        except StepError as error:
            failures.append(error)
            raise OSError(error.message) from error

    return create


def _problem(status: int, failures: list[StepError | OSError]) -> Problem:
    """Only another address helps where this one is refused (4xx)."""
    if status:
        permanent = 400 <= status < 500 and status not in TRY_AGAIN
        return Problem(f"It answered with status {status}.", permanent=permanent)
    if failures and isinstance(failures[-1], StepError):
        refused = isinstance(failures[-1], InvalidCall)
        return Problem(failures[-1].message, permanent=refused)
    name = f" ({type(failures[-1]).__name__})" if failures else ""
    return Problem(f"It could not be reached{name}.", permanent=False)


if __name__ == "__main__":
    main()
