"""Notifications to anything that takes JSON over HTTPS."""

from __future__ import annotations

import ipaddress

from reviews.notifiers import gateway, text
from reviews.notifiers.base import Notifier, Undeliverable, notifier
from reviews.notifiers.message import Message
from runs.canonical import Json
from runs.errors import InvalidCall
from runs.tools.http_policy import Policy, Target, parse


@notifier
class Webhook(Notifier):
    """A POST with the message in fields; nothing in it has to be unescaped."""

    name = "webhook"
    label = "Webhook"
    hint = "https://example.com/hook, which gets JSON"

    def clean(self, address: str) -> str:
        try:
            target = parse(address)
            Policy(private=gateway.private_hosts()).check(target)
        except ValueError as error:
            raise ValueError(f"{error}.".capitalize()) from None
        except InvalidCall as error:
            raise ValueError(error.message) from None
        if target.scheme == "http" and not _is_private(target.host):
            raise ValueError(
                "Only https:// is possible, but for hosts in"
                " AGENTOPS_NOTIFY_PRIVATE_HOSTS."
            )
        gateway.check(_service(target, {}))
        return address

    def send(self, address: str, said: Message) -> None:
        try:
            target = parse(address)
        except ValueError as error:
            raise Undeliverable(str(error), permanent=True) from None
        body = "\n".join(text.lines(said))
        gateway.post(
            _service(target, _fields(said)),
            gateway.Said(said.subject, body, level=text.level(said)),
        )


def _service(target: Target, payload: dict[str, Json]) -> gateway.Service:
    scheme = "jsons" if target.scheme == "https" else "json"
    host = target.host_header
    return gateway.Service(
        "webhook",
        f"{scheme}://{host}/",
        {"fullpath": target.path, "payload": {"attachments": "", **payload}},
    )


def _fields(said: Message) -> dict[str, Json]:
    """What a program wants to know, beside `title`, `message` and `type`."""
    return {
        "event": said.event,
        "key": said.key,
        "what": said.what,
        "why": said.why,
        "reason": said.reason,
        "risk": said.risk,
        "due_at": said.due_at.isoformat() if said.due_at else None,
        "agent": said.agent,
        "submitter": said.submitter,
        "last_calls": [[call.name, call.outcome] for call in said.calls],
        "last_error": said.last_error,
        "link": said.link,
        "items": [_fields(item) for item in said.items],
    }


def _is_private(host: str) -> bool:
    """Does the installation name this host as one inside?"""
    allowed = gateway.private_hosts()
    if host in allowed:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(_within(address, network) for network in allowed)


def _within(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, network: str
) -> bool:
    try:
        return address in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
