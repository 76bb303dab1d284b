"""An e-mail goes out once or not at all, and we know which."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from django.core import mail as outbox
from django.core.mail import EmailMultiAlternatives

from agentops import mail
from runs.errors import Fatal, InvalidCall, NotSent, OutcomeUnknown, StepError
from runs.tools.base import Effect, Reconciled
from runs.tools.perform import perform, reconcile
from runs.tools.send_email import SMTP_BACKEND, send_email
from tests.runs.tools.calls import KEY, context
from tests.runs.tools.servers import Script, Server, drip, serving, stay_silent

CALL = {
    "to": ["analytics@company.com"],
    "subject": "Q3 2024 Revenue Summary",
    "body_markdown": "# Q3\n\nSeptember grew **37.3 %**.\n\n.\n.dots\n<script>",
}


@pytest.fixture(autouse=True)
def no_tls(settings: Any) -> None:
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.DEFAULT_FROM_EMAIL = "Agents <agents@ours.example>"


def call(**changes: Any) -> dict[str, Any]:
    return send_email.validate({**CALL, **changes})


# What is sent


def test_it_sends_text_and_html_under_its_key() -> None:
    result = perform(send_email, call(cc=["b@company.com"]), context())

    (sent,) = outbox.outbox
    assert isinstance(sent, EmailMultiAlternatives)
    assert sent.to == ["analytics@company.com"]
    assert sent.cc == ["b@company.com"]
    assert sent.from_email == "Agents <agents@ours.example>"
    assert sent.extra_headers["Message-ID"] == f"<{KEY}@ours.example>"
    assert sent.body == CALL["body_markdown"]
    html = str(sent.alternatives[0][0])
    assert sent.alternatives[0][1] == "text/html"
    assert "<strong>37.3 %</strong>" in html
    assert "<script>" not in html
    assert result == {
        "sent": True,
        "message_id": f"<{KEY}@ours.example>",
        "to": ["analytics@company.com"],
        "cc": ["b@company.com"],
        "subject": "Q3 2024 Revenue Summary",
    }


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("a@b.example", ["a@b.example"]),
        (["a@b.example", "Ana <c@d.example>"], ["a@b.example", "c@d.example"]),
    ],
)
def test_recipients_are_bare_addresses_in_a_list(given: Any, stored: list[str]) -> None:
    assert call(to=given)["to"] == stored


def test_it_cannot_be_undone_and_says_what_it_will_do() -> None:
    arguments = call(cc=["b@company.com"])

    preview = send_email.preview(arguments, context())  # type: ignore[misc]

    assert send_email.effect_for(arguments) is Effect.IRREVERSIBLE
    assert send_email.words(call()) == "Send e-mail to analytics@company.com"
    assert preview.headline == "Send e-mail to analytics@company.com and 1 more"
    assert ("Cc", "b@company.com", "email") in preview.fields
    assert ("Text", CALL["body_markdown"], "markdown") in preview.fields


# What is refused


SMUGGLED = [
    {"subject": "Hi\nBcc: x@evil.example"},
    {"subject": "Hi\r\nBcc: x@evil.example"},
    {"subject": "Hi\x00"},
    {"subject": "Hi\u2028Bcc: x@evil.example"},
    {"subject": "Hi\x85Bcc: x@evil.example"},
    {"to": ["a@b.example\nBcc: x@evil.example"]},
    {"to": ["Ana\nBcc: x@evil.example <a@b.example>"]},
    {"to": ["a@b.example, x@evil.example"]},
    {"cc": ["a@b.example\r\nRCPT TO:<x@evil.example>"]},
]


@pytest.mark.parametrize("changes", SMUGGLED)
def test_s12_no_header_is_smuggled_in(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidCall):
        perform(send_email, {**CALL, **changes}, context())

    assert outbox.outbox == []


def test_s12_a_bad_sender_is_told_too() -> None:
    bad = context(settings={"sender": "a@b.example\nBcc: x@evil.example"})

    with pytest.raises(InvalidCall, match="headers"):
        perform(send_email, CALL, bad)

    assert outbox.outbox == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"to": []}, "to"),
        ({"to": "nobody"}, "nobody is not an e-mail address"),
        ({"to": ["a@b.example"] * 51}, "to"),
        ({"to": None}, "to"),
        ({"subject": ""}, "subject"),
        ({"subject": "x" * 256}, "subject"),
        ({"body_markdown": ""}, "body_markdown"),
    ],
)
def test_wrong_arguments_are_told_to_the_model(
    changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidCall, match=words):
        call(**changes)


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("a@company.com", True),
        ("a@COMPANY.com", True),
        ("a@eu.company.com", False),
        ("a@notcompany.com", False),
        ("a@eu.partner.example", True),
        ("a@partner.example", False),
        ("company.com@evil.example", False),
    ],
)
def test_mail_goes_only_to_domains_that_are_allowed(
    address: str, allowed: bool
) -> None:
    known = {"allow_domains": ["company.com", "*.partner.example"]}

    if allowed:
        send_email.vet(call(to=[address]), known)
    else:
        with pytest.raises(InvalidCall, match="Mail may only go to"):
            perform(send_email, call(cc=[address]), context(settings=known))
        assert outbox.outbox == []


# Whether it happened


def test_a_mailbox_we_can_look_into_tells(settings: Any, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = "agentops.mail.FileBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    before = reconcile(send_email, call(), context())

    result = perform(send_email, call(), context())

    after = reconcile(send_email, call(), context())
    assert before.outcome is Reconciled.NOT_HAPPENED
    assert after.outcome is Reconciled.HAPPENED
    assert after.result == result
    assert len(mail.stored_mails()) == 1
    other = reconcile(send_email, call(), context(key="cd" * 32))
    assert other.outcome is Reconciled.NOT_HAPPENED


def test_the_outbox_of_tests_tells() -> None:
    before = reconcile(send_email, call(), context())

    perform(send_email, call(), context())

    assert before.outcome is Reconciled.NOT_HAPPENED
    assert reconcile(send_email, call(), context()).outcome is Reconciled.HAPPENED


def test_a_mail_server_does_not_tell(settings: Any) -> None:
    settings.EMAIL_BACKEND = SMTP_BACKEND

    assert reconcile(send_email, call(), context()).outcome is Reconciled.UNKNOWN


def found_somewhere(key: str) -> int:
    return 1


def test_other_backends_can_be_taught_to_tell(settings: Any) -> None:
    settings.EMAIL_BACKEND = "some.other.Backend"
    settings.AGENTOPS_MAIL_FINDERS = {
        "some.other.Backend": f"{__name__}.found_somewhere"
    }

    assert reconcile(send_email, call(), context()).outcome is Reconciled.HAPPENED


# A real server


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


# Servers that misbehave


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
    started = time.monotonic()
    with misbehaving(script, settings), pytest.raises(StepError) as caught:
        perform(send_email, call(), context(0.6))

    assert type(caught.value) is error, caught.value
    assert time.monotonic() - started < 1.6


@pytest.mark.parametrize("goodbye", [b"", b"...", b"."])
def test_a_mail_that_was_taken_stays_sent_however_the_server_leaves(
    goodbye: bytes, settings: Any
) -> None:
    started = time.monotonic()
    with misbehaving(talking({"quit": goodbye}), settings):
        result = perform(send_email, call(), context())

    assert result["sent"] is True
    assert time.monotonic() - started < 1


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
        release.wait(10)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolving)
    settings.EMAIL_BACKEND = SMTP_BACKEND
    settings.EMAIL_HOST = "slow.example"
    started = time.monotonic()
    try:
        with pytest.raises(NotSent, match="resolved"):
            perform(send_email, call(), context(0.3))
    finally:
        release.set()

    assert time.monotonic() - started < 1.3


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


class BrokenBackend:
    def send_messages(self, messages: list[Any]) -> int:
        raise ConnectionResetError("who knows")


def test_another_backend_that_fails_leaves_it_unknown(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMAIL_BACKEND = f"{__name__}.BrokenBackend"
    monkeypatch.setattr(BrokenBackend, "__init__", lambda self, **kwargs: None)

    with pytest.raises(OutcomeUnknown, match="who knows"):
        perform(send_email, call(), context())
