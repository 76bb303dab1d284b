"""The tool that sends an e-mail, at most once.

The Message-ID is the call's key, so that a mailbox we can look into tells whether the
mail went out; AGENTOPS_MAIL_FINDERS maps a mail backend's path to a function that
counts the mails of a key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from email.utils import parseaddr
from functools import partial
from pathlib import Path
from typing import Annotated

from django.conf import settings
from django.core import mail as django_mail
from django.core.exceptions import ValidationError
from django.core.mail import BadHeaderError, EmailMultiAlternatives, get_connection
from django.core.validators import validate_email
from django.utils.encoding import punycode
from django.utils.module_loading import import_string
from pydantic import AfterValidator, BeforeValidator, Field

from agentops import unseen
from agentops.mail import FileBackend, count_with_key, kept_in
from agentops.markdown import to_html
from runs.canonical import Json, shorten
from runs.errors import Fatal, InvalidCall
from runs.tools import smtp
from runs.tools.base import (
    MAX_TEXT,
    Arguments,
    Context,
    Effect,
    Preview,
    Reconciled,
    Reconciliation,
    tool,
)
from runs.tools.choices import Choices

SMTP_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
MAX_RECIPIENTS = 50
_CONTROL = re.compile(f"[{unseen.STEERING}]")
_ENCODED = re.compile(r"=\?[^?\s]*\?[bq]\?", re.IGNORECASE)
# Quoted parts may hold any sign; the others lead on to another server.
_ODD_LOCAL = re.compile(r"[\"%!]")
_NAMED = re.compile(r"[^<>]*<([^<>]+)>")


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("line breaks and control characters are not allowed")
    return text


def _subject(text: str) -> str:
    """One line that says the same to who approves it and to who gets it."""
    if _ENCODED.search(text):
        raise ValueError("write the subject itself, not in encoded words")
    return _one_line(text)


def _address(text: str) -> str:
    """The bare address; a name before it is dropped.

    Its domain is ASCII, as the mail server gets it, so that look-alikes are seen and
    rules of domains are about what happens.
    """
    _one_line(text)
    named = _NAMED.fullmatch(text.strip())
    bare = (named[1] if named else text).strip()
    local, _, domain = bare.rpartition("@")
    try:
        ascii_domain = domain if domain.isascii() else punycode(domain)
        plain = f"{local}@{ascii_domain}"
        validate_email(plain)
    except (ValidationError, UnicodeError):
        raise ValueError(f"{shorten(bare, 100)} is not an e-mail address") from None
    if _ODD_LOCAL.search(local) or "[" in domain:
        raise ValueError(f"{shorten(bare, 100)} is written in a way that is not taken")
    return plain


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Address = Annotated[
    str,
    Field(max_length=320, examples=["somebody@example.com"]),
    AfterValidator(_address),
]
Recipients = Annotated[
    list[Address],
    Field(min_length=1, max_length=MAX_RECIPIENTS),
    BeforeValidator(_listed),
]
Copies = Annotated[
    list[Address], Field(max_length=MAX_RECIPIENTS), BeforeValidator(_listed)
]
Subject = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_subject)]
Body = Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]


def _describe(arguments: Arguments) -> str:
    people = [*arguments["to"], *arguments.get("cc", [])]
    others = f" and {len(people) - 1} more" if len(people) > 1 else ""
    return f"Send e-mail to {people[0]}{others}"


def _check(arguments: Arguments, chosen: Mapping[str, Json]) -> None:
    """Raises `InvalidCall` naming the recipients who may not get mail."""
    allowed = [str(one).lower() for one in chosen.get("allow_domains", [])]
    people = [*arguments["to"], *arguments.get("cc", [])]
    outside = [person for person in people if not _is_allowed(person, allowed)]
    if allowed and outside:
        raise InvalidCall(
            f"Mail may only go to {', '.join(allowed)}, not to {', '.join(outside)}."
        )


def _is_allowed(address: str, domains: list[str]) -> bool:
    domain = address.rpartition("@")[2].lower()
    return any(
        domain.endswith(allowed[1:]) if allowed.startswith("*.") else domain == allowed
        for allowed in domains
    )


def _preview(arguments: Arguments, context: Context) -> Preview:
    rows = [("To", ", ".join(arguments["to"]), "email")]
    if arguments.get("cc"):
        rows.append(("Cc", ", ".join(arguments["cc"]), "email"))
    rows += [
        ("From", _sender(context), "email"),
        ("Subject", arguments["subject"], "text"),
        ("Text", arguments["body_markdown"], "markdown"),
    ]
    return Preview(
        headline=_describe(arguments),
        fields=tuple(rows),
        warning="A mail that was sent cannot be called back.",
    )


def _reconcile(arguments: Arguments, context: Context) -> Reconciliation:
    """Look for the Message-ID where the mail backend keeps what it sent."""
    finder = _finder(context)
    if finder is None:
        evidence = "A mail server does not tell what it has sent."
        return Reconciliation(Reconciled.UNKNOWN, evidence=evidence)
    message_id = _message_id(context)
    if finder(context.key):
        return Reconciliation(
            Reconciled.HAPPENED,
            result=_result(arguments, message_id),
            evidence=f"The mailbox has a mail with the Message-ID {message_id}.",
        )
    evidence = f"The mailbox has no mail with the Message-ID {message_id}."
    return Reconciliation(Reconciled.NOT_HAPPENED, evidence=evidence)


class MailChoices(Choices):
    """`allow_domains`: recipients' domains ("*.example.com" takes those below);
    `mailbox`: "files" keeps the mail in files, whatever the installation sends with.
    """

    allow_domains: list[str] = []
    sender: str = ""
    mailbox: str = ""


@tool(
    effect=Effect.IRREVERSIBLE,
    choices=MailChoices,
    describe=_describe,
    check=_check,
    preview=_preview,
    reconcile=_reconcile,
)
def send_email(
    to: Recipients,
    subject: Subject,
    body_markdown: Body,
    context: Context,
    cc: Copies = [],  # noqa: B006 - pydantic copies it
) -> dict[str, Json]:
    """Send one e-mail. The text is Markdown; it is sent as text and as HTML."""
    message_id = _message_id(context)
    copies = [address for address in dict.fromkeys(cc) if address not in to]
    message = EmailMultiAlternatives(
        subject=subject,
        body=body_markdown,
        from_email=_sender(context),
        to=list(dict.fromkeys(to)),
        cc=copies,
        headers={"Message-ID": message_id, "Auto-Submitted": "auto-generated"},
    )
    message.attach_alternative(_page(body_markdown), "text/html")
    _refuse_bad_headers(message)
    _send(message, context)
    return _result({"to": to, "cc": cc, "subject": subject}, message_id)


def _send(message: EmailMultiAlternatives, context: Context) -> None:
    mailbox = _mailbox(context)
    if mailbox is None and settings.EMAIL_BACKEND == SMTP_BACKEND:
        smtp.send(message, context.deadline)
        return
    connection = FileBackend(file_path=mailbox) if mailbox else get_connection()
    if connection.send_messages([message]) == 0:
        raise Fatal("The mail backend sent nothing.")


def _refuse_bad_headers(message: EmailMultiAlternatives) -> None:
    try:
        message.message()
    except BadHeaderError as error:
        raise InvalidCall(f"The mail's headers are not valid: {error}") from None


def _result(arguments: Arguments, message_id: str) -> dict[str, Json]:
    return {
        "sent": True,
        "message_id": message_id,
        "to": arguments["to"],
        "cc": arguments.get("cc", []),
        "subject": arguments["subject"],
    }


def _page(markdown: str) -> str:
    return f'<!doctype html><html lang="en"><body>\n{to_html(markdown)}</body></html>'


def _sender(context: Context) -> str:
    return str(context.settings.get("sender") or settings.DEFAULT_FROM_EMAIL)


def _message_id(context: Context) -> str:
    host = parseaddr(_sender(context))[1].rpartition("@")[2]
    return f"<{context.key}@{host or 'localhost'}>"


def _mailbox(context: Context) -> Path | None:
    """The folder of an agent that mails into files, whatever else is set."""
    wanted = context.settings.get("mailbox", "")
    if not wanted:
        return None
    if wanted != "files":
        raise Fatal(f'There is no mailbox {wanted!r} for mail; there is "files".')
    return kept_in()


def _finder(context: Context) -> Callable[[str], int] | None:
    """The function that counts the mails of a key where they are kept."""
    mailbox = _mailbox(context)
    if mailbox is not None:
        return partial(count_with_key, path=mailbox)
    backend = settings.EMAIL_BACKEND
    more: dict[str, str] = getattr(settings, "AGENTOPS_MAIL_FINDERS", {})
    if backend in more:
        found: Callable[[str], int] = import_string(more[backend])
        return found
    return _FINDERS.get(backend)


def _count_in_outbox(key: str) -> int:
    start = f"<{key}@"
    return sum(
        str(message.extra_headers.get("Message-ID", "")).startswith(start)
        for message in getattr(django_mail, "outbox", [])
    )


_FINDERS: dict[str, Callable[[str], int]] = {
    "agentops.mail.FileBackend": count_with_key,
    "django.core.mail.backends.locmem.EmailBackend": _count_in_outbox,
}
