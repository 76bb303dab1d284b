"""We know what a mail server got, whatever it does."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from django.core.mail import EmailMessage

from runs.errors import Fatal, InvalidCall, NotSent, OutcomeUnknown, StepError
from runs.tools.perform import perform
from runs.tools.send_email import SMTP_BACKEND, send_email
from tests.runs.tools.calls import KEY, context
from tests.runs.tools.letters import call
from tests.runs.tools.servers import Script, Server, drip, serving, stay_silent
from tests.support.wait import HANGS_S, cut_short

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def no_tls(settings: Any) -> None:
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.DEFAULT_FROM_EMAIL = "Agents <agents@ours.example>"


class Mailbox:
    """A handler of aiosmtpd that keeps what it got and refuses what it is told to."""

    def __init__(self, refuse: dict[str, str] | None = None) -> None:
        self.refuse = refuse or {}
        self.envelopes: list[Envelope] = []

    async def handle_RCPT(  # noqa: N802 - the name aiosmtpd looks for
        self,
        server: SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - the name aiosmtpd looks for
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        if "data" in self.refuse:
            return self.refuse["data"]
        self.envelopes.append(envelope)
        return "250 OK"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def smtp_server(handler: Mailbox, settings: Any) -> Iterator[None]:
    controller = Controller(handler, hostname="127.0.0.1", port=free_port())
    controller.start()
    settings.EMAIL_BACKEND = SMTP_BACKEND
    settings.EMAIL_HOST, settings.EMAIL_PORT = "localhost", controller.port
    try:
        yield
    finally:
        controller.stop()


def test_a_server_gets_the_mail_once_with_all_its_dots(settings: Any) -> None:
    mailbox = Mailbox()
    with smtp_server(mailbox, settings):
        perform(send_email, call(cc=["b@company.com"]), context())

    (envelope,) = mailbox.envelopes
    assert envelope.rcpt_tos == ["analytics@company.com", "b@company.com"]
    assert envelope.mail_from == "agents@ours.example"
    content = envelope.content
    assert isinstance(content, bytes)
    assert message_from_bytes(content)["Message-ID"].strip() == (
        f"<{KEY}@ours.example>"
    )
    assert b"\r\n.\r\n.dots\r\n" in content


@pytest.mark.parametrize("end", ["\n.\n", "\r.\r", "\n.\r\n", "\r\n.\n", "\r\n.\r\n"])
@pytest.mark.parametrize("letter", ["a", "ä"])
def test_no_end_of_a_mail_is_smuggled_in(settings: Any, end: str, letter: str) -> None:
    second = "MAIL FROM:<x@evil.example>\r\nRCPT TO:<y@evil.example>\r\nDATA\r\nHi"
    mailbox = Mailbox()
    with smtp_server(mailbox, settings):
        body = f"{letter}{end}{second}{end}"
        perform(send_email, call(body_markdown=body), context())

    (envelope,) = mailbox.envelopes
    assert isinstance(envelope.content, bytes)
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n", envelope.content)
    assert envelope.rcpt_tos == ["analytics@company.com"]


def test_a_bare_line_end_from_wherever_is_none(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        EmailMessage, "message", lambda self: Raw(b"A: b\r\n\r\nx\n.\rQUIT\r.\n")
    )
    mailbox = Mailbox()
    with smtp_server(mailbox, settings):
        perform(send_email, call(), context())

    assert mailbox.envelopes[0].content == b"A: b\r\n\r\nx\r\n.\r\nQUIT\r\n.\r\n"


class Raw:
    """A message whose bytes are what they are."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def as_bytes(self, **options: Any) -> bytes:
        return self.content


def test_all_get_it_or_none(settings: Any) -> None:
    mailbox = Mailbox({"b@company.com": "550 no such user"})
    with (
        smtp_server(mailbox, settings),
        pytest.raises(InvalidCall, match=r"b@company\.com: 550 no such user"),
    ):
        perform(send_email, call(cc=["b@company.com"]), context())

    assert mailbox.envelopes == []


@pytest.mark.parametrize(
    ("refuse", "error"),
    [
        ({"analytics@company.com": "450 greylisted"}, NotSent),
        ({"data": "554 spam"}, Fatal),
        ({"data": "452 mailbox full"}, NotSent),
    ],
)
def test_what_the_server_says_is_believed(
    refuse: dict[str, str], error: type[StepError], settings: Any
) -> None:
    mailbox = Mailbox(refuse)
    with smtp_server(mailbox, settings), pytest.raises(StepError) as caught:
        perform(send_email, call(), context())

    assert type(caught.value) is error
    assert mailbox.envelopes == []


def talking(replies: dict[str, bytes], greeting: bytes = b"220 here\r\n") -> Script:
    """Answer each verb; b"" hangs up, b"..." says nothing more, b"." drips."""

    def script(connection: socket.socket, server: Server) -> None:
        known = {
            "ehlo": b"250 here\r\n",
            "mail": b"250 ok\r\n",
            "rcpt": b"250 ok\r\n",
            "data": b"354 go\r\n",
            "quit": b"221 bye\r\n",
            ".": b"250 taken\r\n",
            **replies,
        }
        if _reply(connection, greeting):
            return
        in_content = False
        with connection.makefile("rb") as lines:
            for line in lines:
                verb = line.strip().decode(errors="replace")[:4].lower()
                if in_content and verb != ".":
                    continue
                server.received.append(line)
                reply = known.get(verb, b"500 what\r\n")
                if _reply(connection, reply):
                    return
                in_content = verb == "data" and reply.startswith(b"354")

    return script


def _reply(connection: socket.socket, reply: bytes) -> bool:
    if reply == b"...":
        stay_silent(connection)
    elif reply == b".":
        drip(connection, b"2")
    elif reply:
        connection.sendall(reply)
        return False
    return True


@contextmanager
def misbehaving(script: Script, settings: Any) -> Iterator[Server]:
    with serving(script) as server:
        settings.EMAIL_BACKEND = SMTP_BACKEND
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (talking({}, greeting=b"421 busy\r\n"), NotSent),
        (talking({}, greeting=b"554 go away\r\n"), Fatal),
        (talking({}, greeting=b""), NotSent),
        (talking({}, greeting=b"..."), NotSent),
        (talking({}, greeting=b"."), NotSent),
        (talking({"ehlo": b"..."}), NotSent),
        (talking({"mail": b"451 later\r\n"}), NotSent),
        (talking({"mail": b"550 not you\r\n"}), Fatal),
        (talking({"rcpt": b""}), NotSent),
        (talking({"rcpt": b"."}), NotSent),
        (talking({"data": b"451 later\r\n"}), NotSent),
        (talking({"data": b"..."}), NotSent),
        (talking({".": b""}), OutcomeUnknown),
        (talking({".": b"..."}), OutcomeUnknown),
        (talking({".": b"."}), OutcomeUnknown),
        (talking({".": b"nonsense\r\n"}), OutcomeUnknown),
    ],
)
def test_before_the_content_nothing_went_out_and_after_it_nobody_knows(
    script: Script, error: type[StepError], settings: Any
) -> None:
    hanging = misbehaving(script, settings)
    with cut_short(), hanging, pytest.raises(StepError) as caught:
        perform(send_email, call(), context(0.6))

    assert type(caught.value) is error, caught.value


@pytest.mark.parametrize("goodbye", [b"", b"...", b"."])
def test_a_mail_that_was_taken_stays_sent_however_the_server_leaves(
    goodbye: bytes, settings: Any
) -> None:
    with cut_short(), misbehaving(talking({"quit": goodbye}), settings):
        result = perform(send_email, call(), context())

    assert result["sent"] is True


def test_a_server_that_is_not_there_got_nothing(settings: Any) -> None:
    settings.EMAIL_BACKEND = SMTP_BACKEND
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()

    with pytest.raises(NotSent):
        perform(send_email, call(), context())


def test_a_name_that_is_not_known_got_nothing(settings: Any) -> None:
    settings.EMAIL_BACKEND = SMTP_BACKEND
    settings.EMAIL_HOST = "no-such-host.invalid"

    with pytest.raises(NotSent):
        perform(send_email, call(), context())


def test_a_name_that_is_resolved_too_slowly_got_nothing(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def resolving(*args: Any, **kwargs: Any) -> list[Any]:
        release.wait(HANGS_S)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolving)
    settings.EMAIL_BACKEND = SMTP_BACKEND
    settings.EMAIL_HOST = "slow.example"
    try:
        with cut_short(), pytest.raises(NotSent, match="resolved"):
            perform(send_email, call(), context(0.3))
    finally:
        release.set()


def test_a_wrong_password_needs_a_person(settings: Any) -> None:
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = "x"
    replies = {"ehlo": b"250-here\r\n250 AUTH PLAIN\r\n", "auth": b"535 wrong\r\n"}

    with misbehaving(talking(replies), settings), pytest.raises(Fatal, match="535"):
        perform(send_email, call(), context())


def test_a_server_without_tls_needs_a_person(settings: Any) -> None:
    settings.EMAIL_USE_TLS = True

    with misbehaving(talking({}), settings) as server, pytest.raises(Fatal):
        perform(send_email, call(), context())

    assert not any(line.lower().startswith(b"mail") for line in server.received)


def test_a_tls_handshake_that_hangs_got_nothing(settings: Any) -> None:
    settings.EMAIL_USE_SSL = True
    script = talking({}, greeting=b"...")

    with misbehaving(script, settings), pytest.raises(NotSent):
        perform(send_email, call(), context(0.5))
