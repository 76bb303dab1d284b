"""One text in which values are looked up, each as a whole. Pure.

The look-up is in two parts, so that a megabyte costs milliseconds: what may be the
value is found by plain search, and read as a token where it stands.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from functools import cached_property

from reviews.provenance.figures import (
    INVISIBLE,
    MAX_DIGITS,
    Figure,
    number_of,
    skeleton,
    tokens,
)
from reviews.provenance.units import fits, is_more_than_written, unit_at
from runs.canonical import Json

MOST_ADDRESSES = 2000
MOST_URL = 8000
MOST_TRIES = 200
"""Places of one text that are read for one value."""
AROUND = 100
"""Characters read on each side of a place, so that its token is seen whole."""

_NUMERAL = re.compile("[0-9][0-9.,'\u2019\u00a0\u202f\u2009]*")
_BLANKS = re.compile(r"[ \t\r\n]+")
_INSIDE = re.compile(rf"[\w{INVISIBLE}\u0300-\u036f]")
_ENDS = ".,'\u2019\u00a0\u202f\u2009"
_SEPARATORS = str.maketrans("", "", ",'\u2019\u00a0\u202f\u2009")
_NO_SIGNS = str.maketrans("", "", "-.,'\u2019\u00a0\u202f\u2009")
_NAME_BEGINS = r"(?:^|[\n,;|(\[{\"']|[.!?]\s)[ \t]*[\"']?"
_VALUE_ENDS = r"[\"']?[ \t]*(?:$|[\n;|)\]}]|[,.](?!\w))"
"""Of `name: value` in a text; "max copies: 2" and "copies: 2 of each" say other things."""
_URL_BREAKS = ' \t\r\n<>"|`'
_PRECISE = Context(prec=2 * MAX_DIGITS)


@dataclass
class Text:
    """A text or a JSON value, made ready to look values up in.

    `is_partial` turns true where a look-up gave up before it had seen all of it.
    """

    content: Json
    is_partial: bool = False

    @cached_property
    def json(self) -> str:
        """The value as JSON, one blank after each comma and colon; "" for a text."""
        if isinstance(self.content, str):
            return ""
        return json.dumps(self.content, ensure_ascii=False, default=str)

    @cached_property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        if "\\" in self.json:
            return "\n".join(_said(self.content))
        return self.json

    @cached_property
    def _flat(self) -> str:
        return _BLANKS.sub(" ", self.text)

    @cached_property
    def _numerals(self) -> dict[str, list[str]]:
        """How numbers are written in it, by their digits; candidates, not proofs."""
        found: dict[str, list[str]] = {}
        for raw in set(_NUMERAL.findall(self.text)):
            for part in _parts(raw):
                found.setdefault(_digits(part), []).append(part)
        return found

    @cached_property
    def _with_decimals(self) -> dict[str, list[str]]:
        """Numbers with decimals, by what stands before the point."""
        found: dict[str, list[str]] = {}
        for raw in itertools.chain.from_iterable(self._numerals.values()):
            whole, point, decimals = raw.rstrip(_ENDS).partition(".")
            if point and decimals.isdigit():
                found.setdefault(whole.translate(_SEPARATORS), []).append(raw)
        return found

    def has(self, wanted: Figure) -> bool:
        """Does it stand here as a token of its own?"""
        if wanted.is_address:
            return wanted.text in self._addresses
        if wanted.number is None:
            return self._stands(wanted.text, wanted.text, "")
        written = self._numerals.get(_digits(f"{wanted.number:f}"), ())
        return any(
            self._stands(raw.rstrip(_ENDS), wanted.number, wanted.unit)
            for raw in written
            if number_of(raw.rstrip(_ENDS)) == abs(wanted.number)
        )

    def mentions(self, wanted: Figure) -> bool:
        """Is it in there at all, be it a part of something longer?"""
        return wanted.text in self.text or self.has(wanted)

    def _stands(self, raw: str, key: Decimal | str, unit: str) -> bool:
        return any(
            _is_token(self.text, at, raw, key, unit)
            for at in self._first(_places(self.text, raw), MOST_TRIES)
        )

    def _first(self, places: Iterator[int], most: int) -> Iterator[int]:
        yield from itertools.islice(places, most)
        if next(places, None) is not None:
            self.is_partial = True

    def rounded(self, wanted: Figure) -> str:
        """How a longer number is written here that rounds to this one, or ""."""
        number = wanted.number
        if number is None or wanted.is_common:
            return ""
        whole = abs(int(number))
        near = [*self._with_decimals.get(str(whole), ())]
        near += self._with_decimals.get(str(whole - 1), ())
        for raw in near[:MOST_TRIES]:
            longer = number_of(raw.rstrip(_ENDS))
            if longer is not None and _rounds(longer, abs(number)):
                longer = longer if number >= 0 else -longer
                if self._stands(raw.rstrip(_ENDS), longer, wanted.unit):
                    return f"{longer:f}"
        return ""

    def carries(self, key: str, value: Json) -> bool:
        """Does the same name stand here with the same value?"""
        if not key:
            return False
        if self.json:
            return self._carries_in_json(key, value)
        said = re.escape(value if isinstance(value, str) else json.dumps(value))
        name = r"[ _-]".join(map(re.escape, key.split("_")))
        pattern = rf"{_NAME_BEGINS}(?i:{name})[\"']?\s?[:=]\s?[\"']?{said}{_VALUE_ENDS}"
        return re.search(pattern, self.text) is not None

    def _carries_in_json(self, key: str, value: Json) -> bool:
        needle = json.dumps({key: value}, ensure_ascii=False)[1:-1]
        return any(
            self.json[at + len(needle)] in ",}" for at in _places(self.json, needle)
        )

    def has_phrase(self, phrase: str) -> bool:
        """Do these words stand here, one after the other, nothing cut off?"""
        flat, wanted = self._flat, _BLANKS.sub(" ", phrase).strip()
        apart = (
            at for at in _places(flat, wanted) if _is_apart(flat, at, at + len(wanted))
        )
        return any(
            _is_uncut(flat, at, at + len(wanted))
            for at in self._first(apart, MOST_TRIES)
        )

    @cached_property
    def looks(self) -> dict[str, str]:
        """The addresses in it by what they look like."""
        return {skeleton(address): address for address in self._addresses}

    @cached_property
    def _addresses(self) -> frozenset[str]:
        """E-mail addresses and URLs in it, at most `MOST_ADDRESSES` of each."""
        return frozenset(
            token.text
            for sign in ("@", "://")
            for at in self._first(_places(self.text, sign), MOST_ADDRESSES)
            for token in self._tokens_at(at)
            if token.is_address
        )

    def _tokens_at(self, at: int) -> Iterator[Figure]:
        """The token that reaches over a place, if it is seen whole."""
        reach = MOST_URL if self.text.startswith("://", at) else AROUND
        begin, end = max(0, at - AROUND), at + reach
        for token in tokens(self.text[begin:end]):
            if begin + token.end > at:
                is_whole = token.start > 0 or begin == 0
                ends = begin + token.end < end or end >= len(self.text)
                starts = begin + token.start
                if (
                    is_whole
                    and ends
                    and starts <= at
                    and not self._is_inside_url(starts)
                ):
                    yield token
                return

    def _is_inside_url(self, at: int) -> bool:
        """Is what begins there only a part of an address that began before?"""
        begin = max(0, at - MOST_URL)
        begin = max(begin, *(self.text.rfind(c, begin, at) for c in _URL_BREAKS))
        return "://" in self.text[begin:at]


def _said(value: Json) -> Iterator[str]:
    """The names and texts inside, as they are."""
    if isinstance(value, dict):
        for name, inside in value.items():
            yield name
            yield from _said(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from _said(inside)
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)


def _parts(numeral: str) -> list[str]:
    """A number; but the numbers of a line of values between commas."""
    if "," in numeral and number_of(numeral.rstrip(_ENDS)) is None:
        return [numeral, *filter(None, numeral.split(","))]
    return [numeral]


def _digits(numeral: str) -> str:
    return numeral.translate(_NO_SIGNS).strip("0")


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _is_token(text: str, at: int, raw: str, key: Decimal | str, unit: str) -> bool:
    """Is what stands there a whole token of that value, sign, currency and all?"""
    begin, end = max(0, at - AROUND), at + len(raw) + AROUND
    near = text[begin:end]
    for token in tokens(near):
        if begin + token.end > at:
            is_whole = token.start > 0 or begin == 0
            ends = begin + token.end < end or end >= len(text)
            starts = begin + token.start <= at
            same = starts and is_whole and ends and token.key == key
            return same and (token.number is None or _says(near, token, unit))
    return False


def _says(near: str, token: Figure, unit: str) -> bool:
    """Does the number say there what it says by itself, of the same unit?"""
    if is_more_than_written(near, token.start, token.end):
        return False
    return fits(unit_at(near, token.start, token.end), unit)


def _is_uncut(text: str, start: int, end: int) -> bool:
    """Is no address, number or name cut at either end, and no number changed there?"""
    begin = max(0, start - AROUND)
    near = text[begin : end + AROUND]
    for token in tokens(near):
        first, last = begin + token.start, begin + token.end
        if first < start < last or first < end < last:
            return False
        is_edge = token.number is not None and (first == start or last == end)
        if is_edge and is_more_than_written(near, token.start, token.end):
            return False
    return True


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _rounds(longer: Decimal, number: Decimal) -> bool:
    """Is `number` the longer one, rounded to as many places as it is written with?"""
    if _decimals(longer) <= _decimals(number):
        return False
    unit = Decimal(1).scaleb(-_decimals(number))
    return any(
        longer.quantize(unit, rounding, _PRECISE) == number
        for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
    )


def _is_apart(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (_INSIDE.match(before[-1]) or _continues(before, text[start])):
        return False
    return not (after and (_INSIDE.match(after[0]) or _continues(after, text[end - 1])))


def _continues(beside: str, edge: str) -> bool:
    """Would a number go on there: a point or comma between digits?"""
    return (
        edge.isdigit()
        and len(beside) == 2
        and any(map(str.isdigit, beside))
        and any(sign in beside for sign in ".,")
    )
