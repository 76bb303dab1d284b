"""What nobody sees is known everywhere, by one alphabet."""

from __future__ import annotations

import logging
import re
import unicodedata

import pytest

from agentops import unseen
from agentops.log import OneLine
from reviews.provenance.figures import skeleton
from runs.tools.send_email import _one_line
from runs.words import HIDDEN

pytestmark = pytest.mark.once

TURNING = "\u202a\u202e\u2066\u2069"
STEERING = [*"\x00\t\n\x1b\x7f\x9f\u2028\u2029", *TURNING]
UNSEEN = [*"\u00ad\u061c\u180e\u200b\u200d\u2060\u3164\ufe00\ufeff\ufffa\U000e0041"]


@pytest.mark.parametrize("character", STEERING, ids=ascii)
def test_no_single_line_is_steered(character):
    text = f"a{character}b"
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, text, None, None)

    with pytest.raises(ValueError, match="control characters"):
        _one_line(text)
    assert character not in OneLine().format(record)


@pytest.mark.parametrize("character", [*UNSEEN, *TURNING], ids=ascii)
def test_what_is_not_seen_is_marked_on_pages_and_no_difference(character):
    assert HIDDEN.search(f"a{character}b")
    assert skeleton(f"pay{character}pal") == skeleton("paypal")


def test_the_marks_of_pictures_and_blanks_are_not_the_same():
    assert not HIDDEN.search(f"a{unseen.EMOJI}")
    assert skeleton(f"a{unseen.EMOJI}") == "a"
    assert HIDDEN.search(unseen.BLANK)
    assert skeleton(f"a{unseen.BLANK}b") != "ab"
    assert not HIDDEN.search("two\tand\nthree")


def test_no_letter_is_taken_for_one_that_is_not_seen():
    """Whatever the database of Unicode calls a letter, a digit or a sign is seen."""
    alphabet = re.compile(f"[{unseen.UNSEEN}]")
    seen = [
        chr(point)
        for point in range(0x20000)
        if unicodedata.category(chr(point))[0] in "NPSZ" and alphabet.match(chr(point))
    ]

    assert seen == []
