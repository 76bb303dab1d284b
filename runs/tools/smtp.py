"""Handing one message to an SMTP server, knowing at each moment what went out.

Django's backend and settings, with a total deadline (name resolution included) and
one difference: a message goes to all its recipients or to none. Until the server
has asked for the content nothing can have been sent.
"""

from __future__ import annotations

import contextlib
import re
import smtplib
import socket
import ssl
from collections.abc import Sequence
from typing import Any

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from runs.canonical import shorten
from runs.errors import (
    Fatal,
    InvalidCall,
    NotSent,
    OutcomeUnknown,
    StepError,
    TimedOut,
)
from runs.tools.base import Deadline
from runs.tools.sockets import connect, ended_at, resolve

_LINE_END = re.compile(rb"\r\n|\r|\n")


def send(message: EmailMessage, deadline: Deadline) -> None:
    """Raises `NotSent`, `InvalidCall` or `Fatal` when the server did not take the
    message, and `OutcomeUnknown` when it may have.
    """
    with contextlib.ExitStack() as stack:
        backend = _Backend(deadline, stack)
        try:
            backend.open()
            backend.send_messages([message])
        except (smtplib.SMTPException, OSError, TimedOut) as error:
            raise _told(error, backend.began) from error
        finally:
            backend.leave()


class _Session(smtplib.SMTP):
    """A connection that ends at the deadline. `began`: content may have gone out."""

    def __init__(
        self,
        host: str,
        port: int,
        deadline: Deadline,
        stack: contextlib.ExitStack,
        tls: ssl.SSLContext | None,
    ) -> None:
        self.deadline, self.stack, self.tls = deadline, stack, tls
        self.began = False
        # Our own name, not looked up: that could outlast the deadline.
        name = socket.gethostname()
        super().__init__(host, port, local_hostname=name, timeout=deadline.remaining())

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        addresses = resolve(host, port, self.deadline)
        connection = connect(addresses, port, self.deadline)
        self.stack.enter_context(ended_at(connection, self.deadline))
        if self.tls is None:
            return connection
        return self.tls.wrap_socket(connection, server_hostname=host)

    def sendmail(
        self,
        from_addr: str,
        to_addrs: str | Sequence[str],
        msg: Any,
        mail_options: Sequence[str] = (),
        rcpt_options: Sequence[str] = (),
    ) -> dict[str, tuple[int, bytes]]:
        self.ehlo_or_helo_if_needed()
        code, reply = self.mail(from_addr, self._options(msg))
        if code != 250:
            raise smtplib.SMTPSenderRefused(code, reply, from_addr)
        answers = {address: self.rcpt(address) for address in to_addrs}
        refused = {a: said for a, said in answers.items() if said[0] not in (250, 251)}
        if refused:
            raise smtplib.SMTPRecipientsRefused(refused)
        self._content(msg)
        return {}

    def _options(self, content: bytes) -> list[str]:
        options = [f"size={len(content)}"] if self.has_extn("size") else []
        if self.has_extn("8bitmime") and not content.isascii():
            options.append("body=8bitmime")
        return options

    def _content(self, content: bytes) -> None:
        code, reply = self.docmd("data")
        if code != 354:
            raise smtplib.SMTPDataError(code, reply)
        self.began = True
        # Servers do not agree on whether a bare CR or LF ends a line, and so a mail.
        lines = _LINE_END.sub(b"\r\n", content)
        quoted = lines.replace(b"\r\n.", b"\r\n..")
        if quoted.startswith(b"."):
            quoted = b"." + quoted
        end = b".\r\n" if quoted.endswith(b"\r\n") else b"\r\n.\r\n"
        self.send(quoted + end)
        code, reply = self.getreply()
        if code != 250:
            raise smtplib.SMTPDataError(code, reply)


class _Backend(EmailBackend):
    """Django's backend over a `_Session`."""

    def __init__(self, deadline: Deadline, stack: contextlib.ExitStack) -> None:
        super().__init__()
        self.deadline, self.stack = deadline, stack
        self.session: _Session | None = None

    @property
    def began(self) -> bool:
        return self.session is not None and self.session.began

    def open(self) -> bool:
        if self.session is not None:
            return False
        tls = self.ssl_context if self.use_ssl else None
        self.session = _Session(self.host, self.port, self.deadline, self.stack, tls)
        self.connection = self.session
        if self.use_tls:
            self.session.starttls(context=self.ssl_context)
        if self.username and self.password:
            self.session.login(self.username, self.password)
        return True

    def leave(self) -> None:
        """Say goodbye and do not wait for the answer: it can change nothing."""
        if self.session is not None:
            with contextlib.suppress(smtplib.SMTPException, OSError):
                self.session.putcmd("quit")
            self.session.close()


def _told(error: Exception, began: bool) -> StepError:
    """A refusal is the server's word; silence after the content began is not."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _refused(error)
    if isinstance(error, smtplib.SMTPResponseException):
        return _replied(error, began)
    if began:
        return OutcomeUnknown(f"The mail server did not confirm: {_words(error)}")
    if isinstance(error, smtplib.SMTPNotSupportedError | ssl.SSLCertVerificationError):
        return Fatal(f"The mail server cannot be used: {_words(error)}")
    return NotSent(f"The mail server was not reached: {_words(error)}")


def _refused(error: smtplib.SMTPRecipientsRefused) -> StepError:
    said = "; ".join(
        f"{address}: {code} {reply.decode(errors='replace')}"
        for address, (code, reply) in error.recipients.items()
    )
    if any(code >= 500 for code, _ in error.recipients.values()):
        return InvalidCall(f"The mail server refuses to deliver: {shorten(said)}")
    return NotSent(f"The mail server does not take it now: {shorten(said)}")


def _replied(error: smtplib.SMTPResponseException, began: bool) -> StepError:
    reply = error.smtp_error
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    said = shorten(f"{error.smtp_code} {text}")
    if 500 <= error.smtp_code < 600:
        return Fatal(f"The mail server refused it: {said}")
    if began and not 400 <= error.smtp_code < 500:
        # Half a line, or words of no protocol: neither a yes nor a no.
        return OutcomeUnknown(f"The mail server did not confirm: {said}")
    return NotSent(f"The mail server does not take it now: {said}")


def _words(error: Exception) -> str:
    return shorten(f"{type(error).__name__}: {error}")
