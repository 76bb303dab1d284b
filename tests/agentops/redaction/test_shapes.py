"""What has the shape of a secret goes; ordinary texts stay as they are."""

from __future__ import annotations

import base64
import string
import time
import uuid
from random import Random  # noqa: TID251 -- many keys, the same each time

import pytest

from agentops.redaction import has_placeholder, hide, hide_in
from agentops.redaction.shapes import looks_random
from tests.support.canaries import LETTERS, SHAPES, WITHIN

pytestmark = pytest.mark.once

ORDINARY = {
    "prose": "The token of our thanks: a password is a secret between two people. Basic"
    " facts about bearer bonds are key: read them first.",
    "uuid": f"run {uuid.UUID(int=7)} and {uuid.UUID(int=2**127 + 12345)}",
    "commit": "fixed in 3f786850e387550fdab836ed7e6dc881de23001b (see 3f78685)",
    "sha-256": "sha256:"
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "numbers": "IBAN DE89 3704 0044 0532 0130 00, order 20261130000123456789, 1,895,000",
    "picture": "data:image/png;base64,"
    + base64.b64encode(bytes(range(256)) * 20).decode(),
    "address": "https://ana@shop.example:8443/a/b?order=1182&page=2#top",
    "mail": "Write to ana.lee+q3@example.com, or to mailto:bo@example.com.",
    "form": '{"password": ["This field is required."], "token": null, "api_key": ""}',
    "schema": '{"password": {"type": "string"}, "secret": "string", "api_key": "string"}',
    "pages": '{"next_page_token": "CAUQAA2b3c4d5e6f7g8h", "max_tokens": 4096}',
    "code": "password = os.environ['DB_PASSWORD1']; secret = get_secret(name2)",
    "shell": 'export PASSWORD=$DB_PASSWORD1 API_KEY="${KEY2:-}" PWD=/srv/app2/current',
    "css": "sk-cube-grid sk-folding-cube sk-learn-for-beginners-and-others",
    "time": "2026-11-30T10:00:00.123456+00:00 took 00:12:34",
    "SQL": "SELECT id, password FROM users WHERE token = $1 AND key = 'a'",
    "key as a word": "-----BEGIN PRIVATE KEY----- is how such a file begins.",
    "plan": "1. Read the API key's owner. 2. Ask them: is the secret rotated?",
    "version": "openai==3.57.0 AKIA ASIA2026 eyJ xoxo- basic authentication=on",
    "addresses": "https://news.example/sk-telecom-2024-annual-report and /sk-learn-py39-"
    "2024-guide.html, https://x.example/pypi-mirror-set-up-in-2024 xai-grok-3-mini-fast"
    " https://x.example/a/sk-Hynix-2024q3-Results/?page=2",
    "account keys": "Account key: 4711-EUR-2024; account_key=DE12-0815; Account key"
    ' 0815, "accountKey": "4711-BERLIN"',
    "German": "Kennwort vergessen? Passwort: ändern. Geheimnis: keines.",
}


@pytest.mark.parametrize("name", SHAPES)
def test_nothing_is_left_of_a_known_shape(name):
    secret = SHAPES[name]

    found = hide(f"before {secret} after")

    assert has_placeholder(found)
    assert not any(part in found for part in secret.split("\n"))
    assert found.startswith("before [hidden: a")
    assert found.endswith("after")


@pytest.mark.parametrize("name", WITHIN)
def test_a_secret_goes_out_of_what_stands_around_it(name):
    text, secret = WITHIN[name]

    found = hide(text)

    assert secret not in found
    assert has_placeholder(found)
    assert found[:8] == text[:8]


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_text_stays_as_it_is(name):
    assert hide(ORDINARY[name]) == ORDINARY[name]


@pytest.mark.parametrize(
    "text", [*SHAPES.values(), *(text for text, _ in WITHIN.values())]
)
def test_hiding_twice_changes_nothing_more(text):
    once = hide(f"{text} {text}")

    assert hide(once) == once


def test_a_field_whose_name_says_so_needs_no_shape_of_its_own():
    found = hide_in({"rows": [{"db_password": "hunter22", "user": "hunter22"}]})

    assert found == {
        "rows": [{"db_password": "[hidden: a password]", "user": "hunter22"}]
    }


def test_fields_whose_names_are_hidden_alike_stay_two():
    found = hide_in({SHAPES["openai"]: 1, SHAPES["anthropic"]: 2, "a": 3})

    assert found == {"[hidden: an API key]": 1, "[hidden: an API key] (2)": 2, "a": 3}


def test_the_key_of_an_account_is_one_if_it_is_long():
    key, book = LETTERS * 3 + "ab==", "4711-EUR-2024"

    found = hide_in({"accountKey": key, "account_key": book, "a": f"AccountKey={key};"})

    assert found == {
        "accountKey": "[hidden: an API key]",
        "account_key": book,
        "a": "AccountKey=[hidden: an API key];",
    }


ALPHABETS = [
    string.ascii_letters + string.digits + "-_",
    string.ascii_lowercase + string.digits,
    "0123456789abcdef",
]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize(
    "head", ["sk-", "sk-proj-", "sk-or-v1-", "sk-ant-api03-", "xai-", "glpat-", "pypi-"]
)
def test_no_key_is_taken_for_the_name_of_a_page(head, alphabet):
    rng = Random(7)  # noqa: S311
    keys = [head + "".join(rng.choices(alphabet, k=24)) for _ in range(500)]

    left = [key for key in keys if looks_random(key) and hide(f"/{key}") == f"/{key}"]

    assert left == []


@pytest.mark.parametrize(
    "name", ["password", "api_key", "Client-Secret", "refreshToken", "mail.password"]
)
def test_fields_are_known_by_the_end_of_their_names(name):
    assert has_placeholder(hide_in({name: LETTERS}))


@pytest.mark.parametrize(
    "name", ["next_page_token", "max_tokens", "password_hash", "keyboard"]
)
def test_a_field_of_another_name_keeps_what_it_says(name):
    assert hide_in({name: LETTERS}) == {name: LETTERS}


HOSTILE = {
    "key after key": "sk-",
    "token after token": "eyJ-",
    "half tokens": "eyJaaaaaaaa.",
    "logins": "://a:",
    "names": "password=",
    "names and blanks": "password : ",
    "key heads": "-----BEGIN PRIVATE KEY-----",
    "key heads and text": "-----BEGIN PRIVATE KEY-----" + "A" * 16,
    "bearers": "bearer ",
    "blanks": "bearer                       ",
    "signatures": "?sig=",
    "parts of names": "api_",
    "one long word": "A",
    "underscores": "a_",
    "pages": "sk-a1-",
    "hooks": "hooks.slack.com/services/",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_takes_about_twice_the_time(name):
    """Whatever is repeated; a backtracking pattern would take four times as long."""
    ending = (
        "sk- eyJ ://a:b@c password= bearer ?sig= basic key PRIVATE KEY token secret"
    )

    def took(size: int) -> float:
        text = HOSTILE[name] * (size // len(HOSTILE[name])) + ending
        begun = time.process_time()
        hide(text)
        return time.process_time() - begun

    short, long = min(took(50_000) for _ in range(2)), took(400_000)

    assert long < 8 * short * 3 + 0.1
