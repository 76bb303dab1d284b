"""Notifications in Microsoft Teams, by a workflow that takes webhook requests."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from reviews.notifiers import gateway, text
from reviews.notifiers.base import Notifier, notifier
from reviews.notifiers.message import Message

_QUERY = frozenset({"api-version", "sp", "sv", "sig"})


@notifier
class Teams(Notifier):
    """An adaptive card; its text is Markdown."""

    name = "teams"
    label = "Microsoft Teams"
    hint = "the address that a workflow “when a webhook request is received” shows"

    def clean(self, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme not in {"https", "workflows"}:
            raise ValueError("Enter the https:// address that the workflow shows.")
        if not {name for name, _ in parse_qsl(parts.query)} <= _QUERY:
            raise ValueError("The address has more in its query than Teams puts there.")
        gateway.check(_service(address))
        return address

    def send(self, address: str, said: Message) -> None:
        body = "\n\n".join(text.lines(said, text.markdown))
        title = text.markdown(said.what if said.items else said.subject)
        gateway.post(
            _service(address),
            gateway.Said(title, body, level=text.level(said), format="markdown"),
        )


def _service(address: str) -> gateway.Service:
    return gateway.Service("teams", address, {"include_image": False})
