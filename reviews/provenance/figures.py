"""Figures in a text: numbers, dates, addresses and ids, each as a whole. Pure.

A text is read as tokens that nothing is cut out of: 38 is no part of 1380, and
1.38 none of 1.38 million. A number is compared by its exact value, whatever its
thousands separators, currency or percent sign; all else by its characters. Notations
that can be read in two ways (37,3 and 1 250 000) count as characters, too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from agentops import unseen
from reviews.provenance.units import unit_at

MAX_DIGITS = 60
"""Of a number; what has more is compared by its characters."""
COMMON_LENGTH = 3
"""Texts up to this length, and numbers of fewer digits, stand anywhere by chance."""

INVISIBLE = unseen.UNSEEN + unseen.EMOJI
_COMBINING = "\u0300-\u036f\u20d0-\u20ff"
_IN = rf"[\w{INVISIBLE}{_COMBINING}]"
_THIN = "\u00a0\u202f\u2009"
_MONEY = "$€£¥₹₩₽"
_MAGNITUDES = (
    "thousand|million|billion|trillion|hundred|dozen|millions|billions|mln|mio|mrd|"
    "bn|mn|tsd|lakhs?|crores?|[kmbKMB]"
)

# A sign or a currency before a number belongs to it; so does what changes its value.
_SIGN = rf"(?:(?<![\w\-\u2212.,])[-\u2212+](?=[{_MONEY}]?\.?[0-9]))?(?:[{_MONEY}](?=\.?[0-9]))?"
_POWER = rf"(?<=[0-9])[ {_THIN}]?[\u00d7xX*·][ {_THIN}]?10[\^*⁰¹²³⁴-⁹0-9]*"
_AFTER = (
    rf"(?:{_POWER}|(?<=[0-9])[ {_THIN}\-]?(?:{_MAGNITUDES})\b"
    rf"|(?<=[0-9])[ {_THIN}]?‰|(?<=[0-9])[ {_THIN}]?%)?"
)
_GROUPS = rf"[0-9]{{1,3}}(?:[ {_THIN}][0-9]{{3}})+(?![0-9])(?:\.[0-9]+)?(?!{_IN})"
_WORD = (
    rf"(?:(?<!{_IN})\.(?=[0-9]))?{_IN}+(?:[.,:/'\u2019@·\u2010\u2011\u2013\-]{_IN}+)*"
)
_URL = r"[A-Za-z][A-Za-z0-9+.\-]{0,19}://[^\s<>\"|`]+"
_MAIL = r"[^\s<>\"(),;:\[\]{}|`]{1,64}@[^\s<>\"(),;:\[\]{}|`@]{1,255}"

_REST = rf"{_SIGN}(?:(?<![\w.,]){_GROUPS}|{_WORD}){_AFTER}"
_PLAIN = r"[^\W\d_]+(?=\s)"
_TOKENS = {
    (has_url, has_mail): re.compile(
        "|".join([_PLAIN, *[_URL] * has_url, *[_MAIL] * has_mail, _REST])
    )
    for has_url in (False, True)
    for has_mail in (False, True)
}
_NUMBER = re.compile(
    rf"([-\u2212+]?)[{_MONEY}]?((?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:,[0-9]{{3}})+"
    rf"|[1-9][0-9]{{0,2}}(?:['\u2019][0-9]{{3}})+|[1-9][0-9]{{0,2}}(?:[{_THIN}][0-9]{{3}})+"
    rf")?(?:\.[0-9]+)?)(?:[ {_THIN}]?%)?"
)
_SEPARATORS = str.maketrans("", "", f",'\u2019{_THIN}")
_NUMERAL_ONLY = re.compile(r"[-\u2212+]?[0-9.,]+")
_TRAILING = ".,;:!?)]}*'\u2019"
_DOMAIN = re.compile(
    r"(?i:www\.)?[^\W_](?:[\w-]*[^\W_])?(?:\.[^\W_](?:[\w-]*[^\W_])?)*"
    r"\.(?:com|org|net|edu|gov|info|biz|app|dev|xyz|[a-z]{2})(?:[/:].*)?"
)
COMMON_WORDS = frozenset(
    [
        *("about", "also", "data", "date", "done", "email", "from", "have", "high"),
        *("http", "https", "into", "list", "mail", "name", "none", "null", "other"),
        *("report", "send", "some", "subject", "summary", "test", "text", "that"),
        *("their", "them", "then", "there", "this", "title", "true", "false", "type"),
        *("user", "value", "very", "what", "when", "which", "will", "with", "your"),
    ]
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A token at a place of a text; `number` is its value where it is one.

    `unit` is the currency or percent sign that stands in it or beside it.
    """

    start: int
    end: int
    text: str
    number: Decimal | None
    unit: str = ""

    @property
    def key(self) -> Decimal | str:
        """What it is compared by."""
        return self.text if self.number is None else self.number

    @property
    def is_address(self) -> bool:
        return self.number is None and ("@" in self.text or "://" in self.text)

    @property
    def is_common(self) -> bool:
        """May it stand somewhere else by chance?"""
        if self.number is None:
            return is_common_text(self.text)
        return _is_common_number(self.number)

    @property
    def is_telling(self) -> bool:
        """Is it marked inside a longer text: not a plain word?"""
        if self.number is not None or self.is_address:
            return True
        return any(c.isdigit() for c in self.text) or bool(_DOMAIN.fullmatch(self.text))


def tokens(text: str) -> Iterator[Figure]:
    """Every token of a text, plain words too, in order."""
    for found in _TOKENS["://" in text, "@" in text].finditer(text):
        yield from _pieces(found[0], found.start())


def figures(text: str) -> Iterator[Figure]:
    """What in a text is worth a mark of its own."""
    for token in tokens(text):
        if token.number is not None:
            yield replace(token, unit=unit_at(text, token.start, token.end))
        elif token.is_telling:
            yield token


def whole(text: str) -> Figure:
    """The text as one token, whatever is in it."""
    number = number_of(text)
    unit = "" if number is None else unit_at(text, 0, len(text))
    return Figure(0, len(text), text, number, unit)


def number_of(raw: str) -> Decimal | None:
    """The exact value of a token that is a number and nothing else."""
    found = _NUMBER.fullmatch(raw)
    if found is None or not found[2] or len(raw) > MAX_DIGITS:
        return None
    sign = "-" if found[1] in {"-", "\u2212"} else ""
    return Decimal(sign + found[2].translate(_SEPARATORS))


def is_common_text(text: str) -> bool:
    return len(text) <= COMMON_LENGTH or text.casefold() in COMMON_WORDS


def _is_common_number(number: Decimal) -> bool:
    """0, 7, 30, 0.5, and round hundreds; 37.3 and 100,000 are telling."""
    plain = abs(number).normalize()
    digits = plain.as_tuple().digits
    if len(digits) < 2:
        return plain <= 1000
    whole = f"{plain:f}".replace(".", "").lstrip("0")
    return len(whole) < COMMON_LENGTH


def _pieces(raw: str, start: int) -> Iterator[Figure]:
    """One token; but the parts of a line of values between commas."""
    text = raw
    if "@" in raw or "://" in raw:
        text = raw.lstrip("*'").rstrip(_TRAILING)
        start += len(raw) - len(raw.lstrip("*'"))
    if "," in text and not _NUMERAL_ONLY.fullmatch(text) and "://" not in text:
        yield from _between_commas(text, start)
    elif text:
        yield Figure(start, start + len(text), text, number_of(text))


def _between_commas(text: str, start: int) -> Iterator[Figure]:
    if number_of(text) is not None:
        yield Figure(start, start + len(text), text, number_of(text))
        return
    for part in text.split(","):
        if part:
            yield Figure(start, start + len(part), part, number_of(part))
        start += len(part) + 1


# Look-alikes

_ALIKE = {
    "a": "\u0430\u0391\u03b1\u0410",
    "b": "\u0392\u0412\u0432",
    "c": "\u0441\u0421",
    "d": "\u0501",
    "e": "\u0435\u0395\u0415",
    "g": "\u0261",
    "h": "\u04bb\u0397\u041d\u043d",
    "i": "\u0456\u0399\u03b9\u0406",
    "j": "\u0458\u0408",
    "k": "\u043a\u039a\u041a\u03ba",
    "l": "\u04cf\u217c",
    "m": "\u043c\u039c\u041c",
    "n": "\u039d",
    "o": "\u043e\u039f\u03bf\u041e",
    "p": "\u0440\u03a1\u03c1\u0420",
    "q": "\u051b",
    "s": "\u0455\u0405",
    "t": "\u0442\u03a4\u0422\u03c4",
    "u": "\u03c5",
    "v": "\u03bd",
    "w": "\u051d",
    "x": "\u0445\u03a7\u0425",
    "y": "\u0443\u03a5",
    "z": "\u0396",
    "-": "\u2010\u2011\u2012\u2013\u2212",
}
"""Cyrillic, Greek and other letters, by the Latin one they are taken for."""
_LATIN = {ord(c): latin for latin, others in _ALIKE.items() for c in others}
_HIDDEN = re.compile(f"[{INVISIBLE}{_COMBINING}]")


def skeleton(text: str) -> str:
    """What the text looks like: without what is hidden, with letters that look alike
    made one, and without case. Equal skeletons of unequal texts are look-alikes."""
    plain = _HIDDEN.sub("", unicodedata.normalize("NFKC", text).translate(_LATIN))
    folded = _HIDDEN.sub("", unicodedata.normalize("NFKD", plain)).casefold()
    return folded.translate(_LATIN).replace("rn", "m").replace("vv", "w")
