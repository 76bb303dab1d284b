"""Of errors goes what may be a part of a secret, too."""

from __future__ import annotations

import pytest

from agentops.redaction import counted, has_placeholder, hide, hide_quoted

pytestmark = pytest.mark.once

QUOTED = [
    "sk-proj-abcdefghijkl",
    "sk-abc***************xyz",
    "Bearer abcdefgh12345678",
    "Basic dXNlcjpwYXNz",
    "ghp_abcdefghijklmnop",
    "xoxb-1234567890-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0",
    "0123456789abcdef0123456789abcdef",
    "https://user:hunter22@host.example/x",
    "api_key=abcd1234",
    'password: "hunter22"',
    "Incorrect API key provided: abcd1234",
]


@pytest.mark.parametrize("secret", QUOTED)
def test_what_may_be_a_part_of_a_secret_is_hidden(secret):
    found = hide_quoted(f"before {secret} after")

    assert has_placeholder(found)
    assert secret not in found
    assert found.startswith("before ")
    assert found.endswith(" after")


@pytest.mark.parametrize("secret", QUOTED)
def test_hiding_twice_changes_nothing_more(secret):
    once = hide_quoted(f"before {secret} after")

    assert hide_quoted(once) == hide(once) == once


def test_what_was_sent_is_hidden_in_whatever_shape():
    with counted() as hidden:
        found = hide_quoted("key zzzz-99 refused", ["zzzz-99", "ref"])

    assert found == "key [hidden: a secret] refused"
    assert hidden == {"a secret": 1}


def test_plain_words_are_left_alone():
    words = "The endpoint answered 429: Rate limit reached for gpt-5-mini in 3 s."

    assert hide_quoted(words) == words


def test_of_two_secrets_that_begin_alike_nothing_is_left():
    found = hide_quoted("it was abcdefghij", ["abcd", "abcdefghij"])

    assert "efghij" not in found
