"""Notifications by e-mail, through whatever Django is set to send with."""

from __future__ import annotations

import smtplib

from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.forms import ValidationError
from django.template.loader import render_to_string

from reviews.notifiers.base import Notifier, Undeliverable, notifier
from reviews.notifiers.message import Message
from runs.canonical import shorten


@notifier
class Email(Notifier):
    name = "email"
    label = "E-mail"
    hint = "ana@example.com"
    is_secret = False

    def clean(self, address: str) -> str:
        try:
            validate_email(address)
        except ValidationError:
            raise ValueError("This is no e-mail address.") from None
        return address

    def send(self, address: str, said: Message) -> None:
        """One message, as text and as HTML."""
        mail = compose(address, said)
        try:
            mail.send()
        except smtplib.SMTPRecipientsRefused as error:
            raise _undeliverable(error, permanent=_is_final(error)) from error
        except smtplib.SMTPAuthenticationError as error:
            raise Undeliverable(
                "The mail server refused to let us in.", permanent=False
            ) from error
        except OSError as error:
            raise _undeliverable(error, permanent=False) from error


def compose(address: str, said: Message) -> EmailMultiAlternatives:
    """The mail; raises `Undeliverable` if the address is none."""
    try:
        validate_email(address)
    except ValidationError:
        raise Undeliverable(
            f"{address} is no e-mail address.", permanent=True
        ) from None
    context = {"message": said}
    mail = EmailMultiAlternatives(
        subject=" ".join(said.subject.split()),
        body=render_to_string("emails/notification.txt", context),
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    )
    page = render_to_string("emails/notification.html", context)
    mail.attach_alternative(page, "text/html")
    return mail


def _is_final(error: smtplib.SMTPRecipientsRefused) -> bool:
    """5xx: the server will not take this address tomorrow either."""
    return all(code >= 500 for code, _ in error.recipients.values())


def _undeliverable(error: OSError, *, permanent: bool) -> Undeliverable:
    return Undeliverable(
        shorten(f"{type(error).__name__}: {error}"), permanent=permanent
    )
