"""An e-mail goes out as it was asked for, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core import mail as outbox
from django.core.mail import EmailMultiAlternatives

from agentops import mail
from runs.errors import InvalidCall, OutcomeUnknown
from runs.tools.base import Effect, Reconciled
from runs.tools.perform import perform, reconcile
from runs.tools.send_email import SMTP_BACKEND, send_email
from tests.runs.tools.calls import KEY, context
from tests.runs.tools.letters import CALL, call

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def no_tls(settings: Any) -> None:
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    settings.DEFAULT_FROM_EMAIL = "Agents <agents@ours.example>"


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


def test_a_domain_is_shown_as_the_mail_server_gets_it() -> None:
    assert call(to=["a@c\u043empany.com"])["to"] == ["a@xn--cmpany-wqf.com"]


def test_nobody_gets_it_twice() -> None:
    twice = call(to=["a@b.example", "a@b.example"], cc=["a@b.example", "c@d.example"])

    perform(send_email, twice, context())

    assert outbox.outbox[0].recipients() == ["a@b.example", "c@d.example"]


def test_it_cannot_be_undone_and_says_what_it_will_do() -> None:
    arguments = call(cc=["b@company.com"])

    preview = send_email.preview(arguments, context())  # type: ignore[misc]

    assert send_email.effect_for(arguments) is Effect.IRREVERSIBLE
    assert send_email.words(call()) == "Send e-mail to analytics@company.com"
    assert preview.headline == "Send e-mail to analytics@company.com and 1 more"
    assert ("Cc", "b@company.com", "email") in preview.fields
    assert ("Text", CALL["body_markdown"], "markdown") in preview.fields


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
    {"subject": "=?utf-8?B?SGkKQmNjOiB4QGV2aWwuZXhhbXBsZQ==?="},
    {"subject": "Pay \u202e0001"},
    {"to": ["a@b.example\x00"]},
    {"to": ["a@b.example;x@evil.example"]},
    {"to": ["a@b.example x@evil.example"]},
    {"to": ["<a@b.example><x@evil.example>"]},
    {"to": ["a@b.example>,<x@evil.example"]},
    {"to": ["a@b.example@evil.example"]},
    {"to": ["@evil.example:a@b.example"]},
    {"to": ["<@evil.example:a@b.example>"]},
    {"to": ["all: a@b.example, x@evil.example;"]},
    {"to": ["a@b.example (x@evil.example)"]},
    {"to": ["a(x@evil.example)@b.example"]},
    {"to": ['"x@evil.example"@b.example']},
    {"to": ['"a b"@b.example']},
    {"to": ["x%evil.example@b.example"]},
    {"to": ["evil.example!x@b.example"]},
    {"to": ["root@[127.0.0.1]"]},
    {"to": ["root@[IPv6:::1]"]},
    {"to": ["a@b.example."]},
    {"to": ["a@b..example"]},
    {"to": ["\uff41\uff20b.example"]},
    {"to": ["a\u0430@b.example"]},
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
        ("a+b@company.com", True),
        ('"a@company.com" <x@evil.example>', False),
        ("a@company.com <x@evil.example>", False),
        ("a@company.com.evil.example", False),
        ("a@c\u043empany.com", False),
        ("a@\uff43ompany.com", True),
        ("a@company\u3002com", True),
        ("a@xn--ompany-f0f.com", False),
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
