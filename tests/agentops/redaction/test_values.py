"""The secrets of this installation go by their values, in every form they travel in."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from agentops import redaction
from agentops.redaction import hide
from agentops.redaction.values import is_worth_hiding

pytestmark = pytest.mark.once

SECRET = 'p/7"ä+Hunter=2 '.strip()


@pytest.fixture
def known(monkeypatch):
    """Call it to set a variable of the environment."""

    def know(name: str, value: str = SECRET) -> None:
        monkeypatch.setenv(name, value)
        redaction.forget()

    yield know
    monkeypatch.undo()
    redaction.forget()


NAMES = ["SHOP_API_KEY", "SHOP_APIKEY", "TOKEN", "MY_SECRET", "X_ACCESS_KEY_ID"]


@pytest.mark.parametrize("name", [*NAMES, "SMTP_PASSWORD", "PGPASSWORD", "SMTP_PASS"])
def test_a_variable_is_known_by_its_name(known, name):
    known(name)

    assert hide(f"<{SECRET}>") == "<[hidden: a secret of this installation]>"


@pytest.mark.parametrize(
    "name", ["SHOP_NAME", "KEYBOARD", "MONKEY", "BYPASS", "TOKENS_PER_RUN"]
)
def test_a_variable_of_another_name_is_no_secret(known, name):
    known(name)

    assert hide(SECRET) == SECRET


@pytest.mark.parametrize("name", ["DATABASE_URL", "OTHER_DATABASE_URL", "SENTRY_DSN"])
def test_the_password_within_an_address_is_known_with_and_without_its_escapes(
    known, name
):
    known(name, f"postgres://ana:{quote(SECRET, safe='')}@db.example/x")

    assert SECRET not in hide(f"the password is {SECRET}")
    assert quote(SECRET, safe="") not in hide(quote(SECRET, safe=""))


@pytest.mark.parametrize(
    "value", ["SECRET_KEY", "EMAIL_HOST_PASSWORD", "OPENAI_API_KEY"]
)
def test_the_settings_are_known(settings, value):
    setattr(settings, value, SECRET)
    redaction.forget()

    try:
        assert hide(SECRET) != SECRET
    finally:
        redaction.forget()


FORMS = {
    "JSON": json.dumps({"a": SECRET}),
    "JSON with letters as they are": json.dumps({"a": SECRET}, ensure_ascii=False),
    "an address": quote(SECRET),
    "a form": quote_plus(SECRET),
    "an address in lower case": quote(SECRET, safe="")
    .lower()
    .replace("hunter", "Hunter"),
    **{
        f"base64 after {before!r}": base64.b64encode(
            f"{before}{SECRET} x".encode()
        ).decode()
        for before in ("", "a", "ab", "ana:")
    },
    "base64 for addresses": base64.urlsafe_b64encode(f"ana:{SECRET}".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_it_goes_in_every_form(known, form):
    known("SHOP_API_KEY")

    found = hide(FORMS[form])

    assert redaction.has_placeholder(found)
    assert base64.b64encode(SECRET.encode()).decode()[3:-4] not in found
    assert "unter" not in found


@pytest.mark.parametrize(
    "value",
    [
        "demo",
        "1",
        "postgres",
        "changeme",
        "20261130",
        "/run/secrets/key1",
        "created_at",
        "a1a1a1a1a1",
    ],
)
def test_a_plain_value_is_not_blanked_out_of_every_text(known, value):
    known("SHOP_PASSWORD", value)

    assert not is_worth_hiding(value)
    assert (
        hide(f"a demo of {value} and postgres 1") == f"a demo of {value} and postgres 1"
    )


def test_what_is_learnt_is_hidden_until_it_is_forgotten():
    redaction.learn("https://hook.example/Zq7RtB2mKx9W")

    hidden = hide("sent to https://hook.example/Zq7RtB2mKx9W")
    redaction.forget()

    assert hidden == "sent to [hidden: a secret of this installation]"
    assert hide("Zq7RtB2mKx9W") == "Zq7RtB2mKx9W"


def test_what_is_hidden_is_counted_by_kind():
    with redaction.counted() as hidden:
        redaction.hide_in({"a": ["api_key=Zq7RtB2mKx9W", "api_key=Zq7RtB2mKx9X"]})
        hide("password=Zq7RtB2mKx9W")

    assert redaction.in_words(hidden) == "an API key (2), a password"
