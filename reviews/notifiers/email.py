"""Notifications by e-mail, through whatever Django is set to send with."""

from __future__ import annotations

import smtplib

from django.core.mail import EmailMultiAlternatives
from django.core.validators import validate_email
from django.forms import ValidationError
from django.template.loader import render_to_string

from reviews.models import Notification
from reviews.notifiers import message
from reviews.notifiers.base import Notifier, Undeliverable, notifier
from runs.canonical import shorten


@notifier
class Email(Notifier):
    name = "email"

    def send(self, notification: Notification) -> None:
        """One message, as text and as HTML."""
        mail = compose(notification)
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


def compose(notification: Notification) -> EmailMultiAlternatives:
    """The mail; raises `Undeliverable` if there is none to be made of it."""
    address = notification.address
    try:
        validate_email(address)
        said = message.of(notification)
    except LookupError as error:
        raise Undeliverable(str(error), permanent=True) from None
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
