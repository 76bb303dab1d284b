"""An agent may be kept to mail in files, on an installation that mails for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentops import mail
from runs.errors import Fatal
from runs.tools.base import Reconciled
from runs.tools.perform import perform, reconcile
from runs.tools.send_email import SMTP_BACKEND, send_email
from tests.runs.tools.calls import KEY, context

pytestmark = pytest.mark.once

CALL = {"to": ["a@example.com"], "subject": "Hello", "body_markdown": "Hello."}
IN_FILES = {"mailbox": "files"}


@pytest.fixture(autouse=True)
def mails_for_real(settings: Any, tmp_path: Path) -> None:
    """Nobody listens there: a mail that tried to go out would fail."""
    settings.EMAIL_BACKEND = SMTP_BACKEND
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    settings.EMAIL_FILE_PATH = str(tmp_path / "mail")


def test_its_mail_goes_into_a_file_and_nowhere_else(tmp_path: Path) -> None:
    perform(send_email, CALL, context(settings=IN_FILES))

    assert mail.count_with_key(KEY, tmp_path / "mail") == 1


def test_without_a_folder_the_installations_own_takes_it(
    settings: Any, tmp_path: Path
) -> None:
    settings.EMAIL_FILE_PATH, settings.VAR_DIR = None, tmp_path

    perform(send_email, CALL, context(settings=IN_FILES))

    assert mail.count_with_key(KEY, tmp_path / "mail") == 1


def test_the_files_tell_whether_it_went_out() -> None:
    before = reconcile(send_email, CALL, context(settings=IN_FILES))
    perform(send_email, CALL, context(settings=IN_FILES))
    after = reconcile(send_email, CALL, context(settings=IN_FILES))

    assert before.outcome is Reconciled.NOT_HAPPENED
    assert after.outcome is Reconciled.HAPPENED


def test_a_mailbox_that_does_not_exist_sends_nothing() -> None:
    with pytest.raises(Fatal, match="no mailbox 'fils'"):
        perform(send_email, CALL, context(settings={"mailbox": "fils"}))
