"""Secrets that are none: one of each shape, made of parts so that no scanner minds."""

from __future__ import annotations

import base64

LETTERS = "Zq7RtB2mKx9WvL4pHd8sYc3n"
DIGITS = "0123456789abcdef" * 4

SHAPES: dict[str, str] = {
    "openai": "sk-" + "proj-" + LETTERS,
    "anthropic": "sk-" + "ant-api03-" + LETTERS,
    "stripe": "sk_" + "live_" + LETTERS,
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + LETTERS + "abcdef123456",
    "github fine-grained": "github_" + "pat_" + LETTERS,
    "gitlab": "glpat" + "-" + LETTERS,
    "slack": "xoxb" + "-123456789012-" + LETTERS,
    "slack app": "xapp" + "-1-A123456789-" + LETTERS,
    "google": "AIza" + "Sy" + LETTERS + LETTERS[:9],
    "hugging face": "hf_" + LETTERS,
    "npm": "npm_" + LETTERS,
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxMjM0In0." + LETTERS,
    "private key": (
        "-----BEGIN RSA " + f"PRIVATE KEY-----\n{LETTERS}\n{LETTERS}\n"
        "-----END RSA " + "PRIVATE KEY-----"
    ),
    "private key, partly hidden": (
        "-----BEGIN " + f"PRIVATE KEY-----\n[hidden: a secret]\n{LETTERS}\n"
        "-----END " + "PRIVATE KEY-----"
    ),
    "private key, cut": "-----BEGIN " + f"PRIVATE KEY-----\n{LETTERS}\n{LETTERS}",
}
"""Whole: nothing of it may be left."""

WITHIN: dict[str, tuple[str, str]] = {
    "bearer": (f"Authorization: Bearer {LETTERS}", LETTERS),
    "basic": (
        "authorization: basic " + base64.b64encode(b"ana:hunter2!").decode(),
        base64.b64encode(b"ana:hunter2!").decode(),
    ),
    "login": ("postgres://ana:hunter22@db.example/x", "hunter22"),
    "signed by Amazon": (f"https://b.example/x?X-Amz-Signature={DIGITS}", DIGITS),
    "signed by Azure": ("https://b.example/x?sv=1&sig=" + LETTERS + "%3D", LETTERS),
    "slack hook": (
        "https://hooks.slack.com/" + f"services/T0001/B0001/{LETTERS}",
        LETTERS,
    ),
    "api key": (f"api_key={LETTERS}", LETTERS),
    "aws secret": (f"AWS_SECRET_ACCESS_KEY={LETTERS}/ab", LETTERS),
    "password in JSON": ('{"password": "hunter22"}', "hunter22"),
    "password in escaped JSON": (r"{\"dbPassword\": \"hunter22\"}", "hunter22"),
    "client secret": (f"client_secret: '{LETTERS}'", LETTERS),
    "access token": (f"access_token={LETTERS}&x=1", LETTERS),
    "after a line end of JSON": (r"{\"a\": \"b\nsk-" + LETTERS + '"}', LETTERS),
    "in an address": ("https://x.example/?q=a%20sk-" + LETTERS, LETTERS),
}
"""A text, and the piece of it that must go."""
