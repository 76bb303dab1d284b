"""Mail in files: whole or not at all, and two are never one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import BadHeaderError, EmailMessage, EmailMultiAlternatives

from agentops import mail
from agentops.mail import FileBackend


def message(message_id: str = "<abc@host>", subject: str = "Grüße") -> EmailMessage:
    made = EmailMultiAlternatives(
        subject=subject,
        body="text ä\n",
        from_email="from@example.com",
        to=["Ana <ana@example.com>", "b@example.com"],
        cc=["c@example.com"],
        headers={"Message-ID": message_id},
    )
    made.attach_alternative("<p>html</p>", "text/html")
    return made


def test_a_sent_mail_is_a_file_named_by_its_id(tmp_path: Path) -> None:
    assert FileBackend(file_path=tmp_path).send_messages([message()]) == 1

    assert [file.name for file in tmp_path.iterdir()] == ["abc@host.eml"]
    found = mail.stored_mails(tmp_path)[0]
    assert found == mail.stored_mail("abc@host", tmp_path)
    assert found.message_id == "<abc@host>"
    assert found.subject == "Grüße"
    assert found.sender == "from@example.com"
    assert found.to == ("Ana <ana@example.com>", "b@example.com")
    assert found.cc == ("c@example.com",)
    assert found.text == "text ä\n"
    assert found.html.strip() == "<p>html</p>"


def test_the_same_id_twice_makes_two_files(tmp_path: Path) -> None:
    FileBackend(file_path=tmp_path).send_messages([message(), message()])

    assert len(mail.stored_mails(tmp_path)) == 2
    assert mail.count_with_key("abc", tmp_path) == 2
    assert mail.count_with_key("ab", tmp_path) == 0


def test_a_long_id_is_found_whole(tmp_path: Path) -> None:
    key = "ab" * 32

    FileBackend(file_path=tmp_path).send_messages([message(f"<{key}@host.example>")])

    assert mail.count_with_key(key, tmp_path) == 1
    assert mail.stored_mails(tmp_path)[0].message_id == f"<{key}@host.example>"


def test_the_newest_mail_comes_first(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        FileBackend(file_path=tmp_path).send_messages([message(f"<{number}@host>")])
        os.utime(tmp_path / f"{number}@host.eml", (number, number))

    names = [found.name for found in mail.stored_mails(tmp_path)]

    assert names == ["3@host", "2@host", "1@host"]


@pytest.mark.parametrize(
    "message_id", ["<../../etc/x@h>", "<a/b@h>", "<.hidden@h>", "<" + "x" * 300 + "@h>"]
)
def test_odd_ids_stay_in_the_folder(tmp_path: Path, message_id: str) -> None:
    inside = tmp_path / "mail"

    FileBackend(file_path=inside).send_messages([message(message_id)])

    assert len(list(inside.glob("[!.]*.eml"))) == 1
    assert list(tmp_path.iterdir()) == [inside]


@pytest.mark.parametrize("name", ["../secret", ".x", "none", "/etc/passwd"])
def test_no_other_file_can_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.eml").write_text("x")
    (tmp_path / "mail").mkdir()

    assert mail.stored_mail(name, tmp_path / "mail") is None


def test_a_header_cannot_be_smuggled_in(tmp_path: Path) -> None:
    with pytest.raises(BadHeaderError):
        FileBackend(file_path=tmp_path).send_messages([message(subject="a\nBcc: b@c")])

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_has_no_mail(tmp_path: Path) -> None:
    assert mail.stored_mails(tmp_path / "none") == []


def test_it_needs_a_folder(settings: object) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_FILE_PATH"):
        FileBackend()


DYING = """
import os, signal, sys
from pathlib import Path
import django
django.setup()
from agentops import mail
calls = 0
def dying(real):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    return call
for name in ("fsync", "link", "open", "unlink"):
    setattr(os, name, dying(getattr(os, name)))
from tests.agentops.test_mail import message
mail.FileBackend(file_path=Path(sys.argv[1])).send_messages([message()])
print(calls)
"""


@pytest.mark.process
@pytest.mark.parametrize("point", [1, 2, 3, 4])
def test_a_kill_leaves_nothing_or_the_whole_mail(tmp_path: Path, point: int) -> None:
    command = [sys.executable, "-c", DYING, str(tmp_path), str(point)]

    died = subprocess.run(command, check=False, capture_output=True)

    assert died.returncode == -signal.SIGKILL, died.stderr
    found = mail.stored_mails(tmp_path)
    assert len(found) <= 1
    assert all(one.html.strip() == "<p>html</p>" for one in found)
    assert len(found) == (0 if point <= 2 else 1)
