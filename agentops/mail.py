"""Mail kept in files: a backend that writes whole messages, and how to read them.

One message is one file `<Message-ID>.eml` in EMAIL_FILE_PATH. It is written under a
hidden name, flushed to the disk and then linked: a kill leaves nothing or all of
it. A second message with the same id gets a file of its own (`.2.eml`), so that
sending twice is seen.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage as ParsedMessage
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

_UNSAFE = re.compile(r"[^A-Za-z0-9@._+-]")
_LONGEST_NAME = 150


@dataclass(frozen=True)
class StoredMail:
    """A message as it was sent; `name` is that of its file, without `.eml`."""

    name: str
    message_id: str
    subject: str
    sender: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    sent_at: datetime
    text: str
    html: str


class FileBackend(BaseEmailBackend):
    """Django's mail backend; `file_path` overrides EMAIL_FILE_PATH."""

    def __init__(
        self, fail_silently: bool = False, file_path: Path | None = None, **kwargs: Any
    ) -> None:
        super().__init__(fail_silently=fail_silently)
        self.folder = folder(file_path)
        self.folder.mkdir(parents=True, exist_ok=True)

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        sent = 0
        for email in email_messages:
            if email.recipients():
                message = email.message()
                _store(self.folder, str(message["Message-ID"]), message.as_bytes())
                sent += 1
        return sent


def folder(given: Path | None = None) -> Path:
    """Where the messages are; raises `ImproperlyConfigured` if nothing says so."""
    path = given or settings.EMAIL_FILE_PATH
    if not path:
        raise ImproperlyConfigured("EMAIL_FILE_PATH must name the folder for mail.")
    return Path(path)


def kept_in() -> Path:
    """Where an installation keeps mail that never leaves it."""
    return Path(settings.EMAIL_FILE_PATH or settings.VAR_DIR / "mail")


def stored_mails(path: Path | None = None) -> list[StoredMail]:
    """Every message, the newest first; an empty list if there is no folder yet."""
    files = [(file.stat().st_mtime_ns, file) for file in folder(path).glob("*.eml")]
    return [_parsed(file) for _, file in sorted(files, reverse=True)]


def stored_mail(name: str, path: Path | None = None) -> StoredMail | None:
    """The message of that name, which may come from a URL; None if there is none."""
    file = folder(path) / f"{name}.eml"
    if file.parent != folder(path) or name.startswith(".") or not file.is_file():
        return None
    return _parsed(file)


def count_with_key(key: str, path: Path | None = None) -> int:
    """How many messages have a Message-ID that begins with `key@`."""
    start = _file_name(f"<{key}@")
    return sum(1 for _ in folder(path).glob(f"{start}*.eml"))


def _store(directory: Path, message_id: str, content: bytes) -> Path:
    hidden = directory / f".{uuid.uuid4().hex}.part"
    try:
        with hidden.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return _link(hidden, directory, _file_name(message_id))
    finally:
        hidden.unlink(missing_ok=True)


def _link(hidden: Path, directory: Path, name: str) -> Path:
    """Give the file its name, the first that is free; linking never overwrites."""
    for number in itertools.count(1):
        target = directory / (f"{name}.eml" if number == 1 else f"{name}.{number}.eml")
        try:
            os.link(hidden, target)
        except FileExistsError:
            continue
        _flush(directory)
        return target
    raise AssertionError("counting never ends")


def _flush(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _file_name(message_id: str) -> str:
    """The id as a name; one that had to be changed carries a digest of the id."""
    bare = message_id.strip().removeprefix("<").removesuffix(">")
    safe = _UNSAFE.sub("_", bare).lstrip(".")[:_LONGEST_NAME] or "mail"
    if safe == bare:
        return safe
    return f"{safe}-{hashlib.sha256(message_id.encode()).hexdigest()[:12]}"


def _parsed(file: Path) -> StoredMail:
    message = message_from_bytes(file.read_bytes(), policy=policy.default)
    return StoredMail(
        name=file.name.removesuffix(".eml"),
        message_id=str(message.get("Message-ID", "")).strip(),
        subject=str(message.get("Subject", "")),
        sender=str(message.get("From", "")),
        to=_addresses(message, "To"),
        cc=_addresses(message, "Cc"),
        sent_at=datetime.fromtimestamp(file.stat().st_mtime, UTC),
        text=_body(message, "plain"),
        html=_body(message, "html"),
    )


def _addresses(message: ParsedMessage, header: str) -> tuple[str, ...]:
    found = message.get(header)
    return tuple(str(address) for address in found.addresses) if found else ()


def _body(message: ParsedMessage, kind: str) -> str:
    part = message.get_body(preferencelist=(kind,))
    return str(part.get_content()) if part is not None else ""
