"""What a tool is called in words."""

from __future__ import annotations

import pytest

from runs.tools.base import titled


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("send_email", "Send e-mail"),
        ("http_request", "HTTP request"),
        ("look_up", "Look up"),
        ("", "Tool"),
    ],
)
def test_a_name_becomes_words(name, words):
    assert titled(name) == words
