"""What Django tells of an error shows no secret."""

from __future__ import annotations

import sys

import pytest
from django.test import RequestFactory
from django.views.debug import technical_500_response

from agentops import redaction
from tests.support.canaries import LETTERS, SHAPES

pytestmark = pytest.mark.once

INSTALLED = 'hunter2<"&' + LETTERS[::-1]


@pytest.mark.parametrize("accepts", ["text/html", "text/plain"])
def test_no_message_variable_or_setting_shows_a_secret(settings, monkeypatch, accepts):
    monkeypatch.setenv("SHOP_API_KEY", INSTALLED)
    redaction.forget()
    settings.DEBUG = True
    settings.SHOP_URL = f"postgres://ana:{LETTERS}@db.example/x"
    sent = {"text": SHAPES["slack"]}
    request = RequestFactory().post("/x/", sent, headers={"accept": accepts})

    try:
        raise RuntimeError(SHAPES["openai"], {"deep": [SHAPES["aws"]]}, INSTALLED)
    except RuntimeError:
        shown = technical_500_response(request, *sys.exc_info()).content.decode()

    redaction.forget()
    assert "RuntimeError" in shown
    assert LETTERS not in shown
    assert SHAPES["aws"] not in shown
    assert LETTERS[::-1] not in shown
