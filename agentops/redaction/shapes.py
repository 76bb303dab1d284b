"""The shapes of well-known secrets.

A rule is looked for only where one of its `words` is in the text, and its pattern begins
where nothing of its own alphabet stands before it, so that every character is looked
at a fixed number of times: no text takes long.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

API_KEY = "an API key"
PASSWORD = "a password"  # noqa: S105 - the name of a kind
TOKEN = "a token"  # noqa: S105 - the name of a kind
SIGNATURE = "the signature of an address"
PRIVATE_KEY = "a private key"
SECRET = "a secret"  # noqa: S105 - the name of a kind


def _any(secret: str) -> bool:
    return True


def looks_random(text: str) -> bool:
    """Letters and digits both: no word and no number, which prose is made of."""
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


_SLUG = re.compile(
    r"[a-z]{2,6}(?:[-_]"
    r"(?:[A-Za-z][a-z]{0,14}[0-9]{0,4}|[0-9]{1,8}(?:[a-z]{1,2}[0-9]{0,2})?)){3,}+"
)


def looks_like_a_key(text: str) -> bool:
    """Random, and no row of words and numbers as pages are named: `sk-telecom-2024-q3`.

    A part of a key has capitals within, or turns from letters to digits and back.
    """
    return looks_random(text) and not _SLUG.fullmatch(text.strip("-_"))


@dataclass(frozen=True)
class Rule:
    """What its pattern's group `secret` matches is hidden if it `is_one`.

    A match has one of the `words` in it, in lower case if `any_case`, and the
    character `gate`, which is found much faster.
    """

    kind: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool] = _any
    any_case: bool = False
    gate: str = ""

    def may_match(self, text: str, lower: str) -> bool:
        """Is it worth trying? `lower` is the text in lower case."""
        if self.gate not in text:
            return False
        looked = lower if self.any_case else text
        return any(word in looked for word in self.words)


# Where a key may begin: after anything that is not part of a longer word, after what
# an address or JSON writes for a blank or an end of line.
_BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"

_SIGNED = (
    r"x-amz-signature|x-amz-security-token|x-goog-signature|signature|sig"
    r"|access_token|api_?key|client_secret"
)
SHORTEST = 8
LONG = 20
"""The least of a key that is known by the name of an account alone."""
_HEAD = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_FOOT = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"


def _is_login(secret: str) -> bool:
    """What Basic authentication sends: a name and a password, encoded."""
    padded = secret + "=" * (-len(secret) % 4)
    try:
        return b":" in base64.b64decode(padded, altchars=b"-_", validate=True)
    except binascii.Error:
        return False


def _is_value(secret: str) -> bool:
    """What looks random, and is neither a path nor the name of a variable."""
    return secret[0] not in "/$~%{" and "://" not in secret and looks_random(secret)


def _is_account_key(secret: str) -> bool:
    """Books have accounts with keys, too: `4711-EUR`. The key of a store is long."""
    return len(secret) >= LONG and _is_value(secret)


@dataclass(frozen=True)
class Name:
    """A name that says of what stands behind it that it is a secret."""

    kind: str
    words: tuple[str, ...]
    pattern: str
    is_one: Callable[[str], bool] = _is_value

    def field(self) -> re.Pattern[str]:
        """The whole name of a field that ends so."""
        begin = r"(?:.*(?:[^A-Za-z0-9]|[a-z]))?"
        return re.compile(rf"{begin}(?i:{self.pattern})", re.DOTALL)


_NAMES = (
    Name(
        PASSWORD,
        ("passw", "passphrase", "pwd"),
        r"passw(?:or)?d|passphrase|pwd",
    ),
    Name(
        API_KEY,
        ("key",),
        r"(?:api|secret|access|shared|private)[-_ ]?(?:access[-_ ]?)?key",
    ),
    Name(
        API_KEY,
        ("key",),
        r"account[-_ ]?(?:access[-_ ]?)?key",
        _is_account_key,
    ),
    Name(
        TOKEN,
        ("token",),
        r"(?:access|auth|api|bot|refresh|session|bearer|secret)[-_ ]?token",
    ),
    Name(SECRET, ("secret",), r"(?:client|app|consumer|shared)?[-_ ]?secret"),
)
_FIELDS = [(name, name.field()) for name in _NAMES]


def in_field(name: str, text: str) -> str:
    """The kind of a field's text whose name says that it is a secret, else "".

    Only what looks random: a form that says "password: required" is none.
    """
    if len(text) < SHORTEST or " " in text:
        return ""
    short = name[-100:]
    found = (known for known, field in _FIELDS if field.fullmatch(short))
    return next((known.kind for known in found if known.is_one(text)), "")


def _keys(gate: str, words: tuple[str, ...], *patterns: str) -> Rule:
    """Keys that tell by how they begin what they are."""
    pattern = re.compile(rf"{_BEGIN}(?P<secret>{'|'.join(patterns)})")
    return Rule(API_KEY, words, pattern, looks_like_a_key, gate=gate)


def _named(name: Name) -> Rule:
    """What stands behind a name that says what it is: `api_key = …`."""
    pattern = re.compile(
        rf"(?:(?<![A-Za-z0-9])|(?<=[a-z])(?=[A-Z]))(?i:{name.pattern})"
        r"[\"'\\]{0,4}\s{0,3}(?:=>|[:=])\s{0,3}[\"'\\]{0,4}"
        rf"(?P<secret>[^\s\"'\\,;&<>\[\](){{}}]{{{SHORTEST},300}})"
    )
    return Rule(name.kind, name.words, pattern, name.is_one, any_case=True)


RULES: tuple[Rule, ...] = (
    Rule(
        PRIVATE_KEY,
        ("PRIVATE KEY",),
        re.compile(
            rf"(?P<secret>{_HEAD}(?:[^-\"]*+(?:-(?!----)[^-\"]*+)*+{_FOOT}"
            r"|(?:\s|\\[nr])*+(?=[A-Za-z0-9+/=]{16})"
            r"(?:[\s:,]|\\[nr]|[A-Za-z0-9+/=]{16,}+)++))"
        ),
        gate="-----",
    ),
    _keys(
        "_",
        (
            *("sk_live_", "sk_test_", "rk_live_", "rk_test_", "gsk_", "hf_", "npm_"),
            *("dop_v1_", "shpat_", "shpss_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
            "github_pat_",
        ),
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}+",
        r"(?:gsk|hf|npm|dop_v1|shpat|shpss)_[A-Za-z0-9]{20,}+",
        r"gh[pousr]_[A-Za-z0-9]{30,}+",
        r"github_pat_[A-Za-z0-9_]{22,}+",
    ),
    _keys(
        "-",
        ("sk-", "xai-", "nvapi-", "glpat-", "pypi-", "xox", "xapp-"),
        r"sk-[A-Za-z0-9_-]{16,}+",
        r"(?:xai|nvapi|glpat|pypi)-[A-Za-z0-9_-]{16,}+",
        r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}+",
    ),
    _keys(
        "A",
        ("AKIA", "ASIA", "AIza"),
        r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
        r"AIza[A-Za-z0-9_-]{30,}+",
    ),
    Rule(
        TOKEN,
        ("eyJ",),
        re.compile(
            rf"{_BEGIN}(?P<secret>eyJ[A-Za-z0-9_-]{{8,}}+\.[A-Za-z0-9_-]{{8,}}+"
            r"(?:\.[A-Za-z0-9_-]*+){0,3})"
        ),
    ),
    Rule(
        TOKEN,
        ("bearer", "token "),
        re.compile(
            r"(?i:\b(?:bearer|authorization:\s{0,4}token)\s{1,4})"
            r"(?P<secret>[A-Za-z0-9+/._~=-]{16,}+)"
        ),
        looks_random,
        any_case=True,
    ),
    Rule(
        PASSWORD,
        ("basic ",),
        re.compile(r"(?i:\bbasic\s{1,4})(?P<secret>[A-Za-z0-9+/_=-]{6,}+)"),
        _is_login,
        any_case=True,
    ),
    Rule(
        PASSWORD,
        ("://",),
        re.compile(
            r"://[^\s/:@\"'<>\\]{0,200}+:(?P<secret>[^\s/@\"'<>\\\[\]]{1,200}+)@(?=[\w\[])"
        ),
        gate="@",
    ),
    Rule(
        TOKEN,
        ("hooks.slack", "/api/webhooks"),
        re.compile(
            r"(?:hooks\.slack(?:-gov)?\.com/(?:services|triggers|workflows)"
            r"|discord(?:app)?\.com/api/webhooks)/(?P<secret>[\w/-]{16,}+)"
        ),
        gate="://",
    ),
    Rule(
        SIGNATURE,
        ("sig=", "signature=", "token=", "key=", "secret="),
        re.compile(rf"(?i:[?&;](?:{_SIGNED})=)(?P<secret>[A-Za-z0-9%+/=_.~-]{{16,}}+)"),
        looks_random,
        any_case=True,
        gate="=",
    ),
    *map(_named, _NAMES),
)
