"""What beside a number changes what it says: its currency, its sign, its scale. Pure."""

from __future__ import annotations

import re

_CODES = "USD|EUR|GBP|JPY|CNY|CHF|CAD|AUD|NZD|INR|KRW|RUB|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|SGD|HKD|ZAR|TRY"
_UNIT = rf"(?:[$€£¥₹₩₽%‰]|\b(?:{_CODES})\b)"
_BEFORE = re.compile(rf"({_UNIT})[ \u00a0\u202f\u2009]?$")
_AFTER = re.compile(rf"[ \u00a0\u202f\u2009]?({_UNIT})")
_INSIDE = re.compile(_UNIT)
_MEANT = {
    "$": {"$", "USD", "CAD", "AUD", "NZD", "MXN", "SGD", "HKD"},
    "€": {"€", "EUR"},
    "£": {"£", "GBP"},
    "¥": {"¥", "JPY", "CNY"},
    "₹": {"₹", "INR"},
    "₩": {"₩", "KRW"},
    "₽": {"₽", "RUB"},
}
"""What a sign may stand for; a code stands for itself."""

_MINUS = re.compile(
    r"(?:(?<![\w.,])[\u00ad\u2010-\u2015\u207b\u2212\ufe58\ufe63\uff0d-]"
    r"|(?i:\b(?:minus|negative)\s))[$€£¥₹₩₽]?$"
)
_MINUS_AFTER = re.compile(r"[-\u2010-\u2012\u2212](?![\w\-])")
_OPENED = re.compile(r"(?:^|[\n\t|\",;:=\[{])[ ]*[$€£¥₹₩₽]?\($")
_CLOSED = re.compile(r"\)[ ]*(?:$|[\n\t|\",;\]}])")
_SCALE = re.compile(
    r"[\s\u00a0\u202f\u2009\-]{0,4}(?i:(?:hundred|thousand|million|billion|trillion|dozen"
    r"|lakh|lac|crore)s?\b|(?:mln|mio|mrd|mrds|bn|mn|tsd|bps|millionen|milliarden"
    r"|tausend|millones|milliards?|mille|miljoen|miljard|milioni|miliardi|тыс|млн|млрд)\b"
    r"|basis\s+points|[万萬億亿千百])|[ ]?[½¼¾⅓⅔]|[\u2044\u2215]"
)
NEAR = 24
"""Characters looked at on each side."""


def unit_at(text: str, start: int, end: int) -> str:
    """The currency or percent sign of the number there, "" if none is given."""
    found = (
        _INSIDE.search(text, start, end)
        or _BEFORE.search(text[max(0, start - NEAR) : start])
        or _AFTER.match(text[end : end + NEAR])
    )
    return found[found.lastindex or 0] if found else ""


def fits(one: str, other: str) -> bool:
    """May both be the same? Where one is not given, nothing speaks against it."""
    if not one or not other:
        return True
    return bool(_MEANT.get(one, {one}) & _MEANT.get(other, {other}))


def is_more_than_written(text: str, start: int, end: int) -> bool:
    """Does what stands beside the number make it another one?

    A minus in any shape, the brackets that books put around a loss, "million".
    """
    before, after = text[max(0, start - NEAR) : start], text[end : end + NEAR]
    if _MINUS.search(before) or _MINUS_AFTER.match(after) or _SCALE.match(after):
        return True
    return bool(_OPENED.search(before) and _CLOSED.match(after))
