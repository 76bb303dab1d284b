"""Incidents in PagerDuty: one for each item, resolved when it is closed."""

from __future__ import annotations

import re

from reviews.models.review import Risk
from reviews.notifiers import gateway, text
from reviews.notifiers.base import Notifier, notifier
from reviews.notifiers.message import Message
from runs.canonical import Json, shorten

MAX_SUMMARY = 1000
_KEY = re.compile(r"[A-Za-z0-9]{20,64}")
_ADDRESS = re.compile(r"pagerduty://[^/?@\s]+@[^/?@\s]+/?(\?region=(us|eu))?")
_SEVERITIES = {Risk.HIGH.value: "critical", Risk.MEDIUM.value: "warning"}


@notifier
class PagerDuty(Notifier):
    """Reminders go to the same incident, by the item's key."""

    name = "pagerduty"
    label = "PagerDuty"
    hint = "the integration key of a service (Events API v2)"
    groups = False

    def clean(self, address: str) -> str:
        if _KEY.fullmatch(address):
            # apprise asks for a second key, of which PagerDuty's events know nothing
            address = f"pagerduty://{address}@{address}"
        if not _ADDRESS.fullmatch(address):
            raise ValueError(
                "Enter the integration key, or pagerduty://key@key?region=eu."
            )
        gateway.check(gateway.Service(self.name, address))
        return address

    def send(self, address: str, said: Message) -> None:
        service = gateway.Service(self.name, address, _options(said))
        summary = shorten(said.subject, MAX_SUMMARY)
        gateway.post(service, gateway.Said("", summary, level=text.level(said)))


def _options(said: Message) -> dict[str, Json]:
    return {
        "action": "resolve" if said.closes else "trigger",
        "dedup": f"agentops:{said.key}",
        "severity": _SEVERITIES.get(said.risk, "info"),
        "click": said.link,
        "source": "agentops",
        "component": said.agent or "agentops",
        "details": {"Message": "\n".join(text.lines(said))},
        "include_image": False,
    }
