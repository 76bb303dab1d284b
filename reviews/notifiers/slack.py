"""Notifications in Slack, by an incoming webhook or a bot."""

from __future__ import annotations

import re

from reviews.notifiers import gateway, text
from reviews.notifiers.base import Notifier, notifier
from reviews.notifiers.message import Message

_ADDRESS = re.compile(
    r"slack://[^?]+|https://hooks\.slack(-gov)?\.com/(services|triggers|workflows)/[^?]+"
)


@notifier
class Slack(Notifier):
    """Sent as plain text: nothing in it is formatted or mentions anybody, and `&`,
    `<` and `>` are escaped on the way."""

    name = "slack"
    label = "Slack"
    hint = "https://hooks.slack.com/services/…, or slack://token/#channel"

    def clean(self, address: str) -> str:
        if not _ADDRESS.fullmatch(address):
            raise ValueError(
                "Enter the address of a webhook of Slack, without a query."
            )
        gateway.check(_service(address))
        return address

    def send(self, address: str, said: Message) -> None:
        body = "\n".join(text.lines(said))
        title = said.subject if not said.items else said.what
        gateway.post(
            _service(address), gateway.Said(title, body, level=text.level(said))
        )


def _service(address: str) -> gateway.Service:
    options = {"include_image": False, "include_footer": False}
    return gateway.Service("slack", address, options)
