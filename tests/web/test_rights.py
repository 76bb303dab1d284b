"""Everybody asks for everything, by every method; the table says what comes of it."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.support import addresses
from tests.web import table
from tests.web.asking import ask
from tests.web.scene import ROLES, WORDS, Scene

pytestmark = pytest.mark.django_db

PAGES, ADMIN = table.rights(table.PAGES), table.rights(table.ADMIN)
OTHERS = ("PUT", "PATCH", "DELETE", "OPTIONS")


def differences(
    here: Scene, rights: table.Rights, methods: tuple[str, ...]
) -> list[str]:
    """What is answered otherwise than the table says, one line each."""
    found = []
    patterns = dict.fromkeys(address for address, _ in rights)
    for role in ROLES:
        client = here.client(role)
        for pattern in patterns:
            for method in methods:
                told = rights.get((pattern, method), {}).get(role, "405")
                shown = _shown(here, client, role, pattern, method)
                if shown != told:
                    found.append(f"{method} {pattern} {role}: {shown}, not {told}")
    return found


def _shown(here: Scene, client: Client, role: str, pattern: str, method: str) -> str:
    sent = here.sent(pattern, role) if method == "POST" else None
    answer = ask(client, method, here.path(pattern, role), sent)
    is_told = WORDS.encode() in answer.response.content
    may_see = answer.response.status_code in {200, 286}
    return answer.shown + (" and words" if is_told and not may_see else "")


@pytest.mark.once
def test_every_address_has_a_line_in_the_table():
    told = {address for address, _ in PAGES | ADMIN}

    assert set(addresses.every()) - told == set()
    assert told - set(addresses.every()) == set()


def test_pages_answer_as_the_table_says(here):
    assert differences(here, PAGES, ("GET", "HEAD", "POST")) == []


@pytest.mark.once
def test_the_admin_pages_answer_as_the_table_says(here):
    assert differences(here, ADMIN, ("GET", "HEAD", "POST")) == []


@pytest.mark.once
def test_no_page_takes_what_no_browser_sends(here):
    nobody: table.Rights = {key: {} for key in [*PAGES, *ADMIN]}

    assert differences(here, nobody, OTHERS) == []


def test_no_address_takes_a_file(here):
    """Whoever sends it and whatever stands beside it: nothing is taken."""
    found = []
    for role in ROLES:
        client, rights = here.client(role), ADMIN if role == "admin" else PAGES
        for pattern in [a for a, method in (PAGES | rights) if method == "POST"]:
            sent = here.sent(pattern, role) | {"file": SimpleUploadedFile("a", b"a")}
            answer = ask(client, "POST", here.path(pattern, role), sent)
            if answer.shown != "413":
                found.append(f"{pattern} {role}: {answer.shown}")

    assert found == []


def test_what_asks_by_itself_is_told_that_nobody_is_signed_in(here):
    ours = {a for a, m in PAGES if PAGES[a, m]["nobody"] == "in" and "/" in a}
    ours -= {a for a in ours if a.startswith(("accounts/", "admin/"))}
    client = here.client("nobody", headers={"HX-Request": "true"})

    methods = {a: m for a, m in PAGES if a in ours}
    shown = {ask(client, methods[a], here.path(a, "nobody")).shown for a in ours}

    assert shown == {"401"}
