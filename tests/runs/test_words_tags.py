"""The tags and filters of the templates: what is hidden becomes visible, text stays text."""

from __future__ import annotations

import pytest
from django.utils.safestring import SafeString

from runs.templatetags import words


@pytest.mark.parametrize(
    "character", ["\x00", "\x1b", "\x7f", "\u202e", "\u200b", "\U000e0041"]
)
def test_a_character_that_cannot_be_seen_is_shown_as_its_code(character):
    shown = words.visible(f"a{character}b")

    assert character not in shown
    assert f"U+{ord(character):04X}" in shown


def test_lines_and_tabs_stay_and_markup_is_escaped():
    assert words.visible("a\r\n\t<b>&") == "a\n\t&lt;b&gt;&amp;"


def test_what_is_safe_already_is_not_escaped_twice():
    assert words.visible(SafeString("&lt;b&gt;")) == "&lt;b&gt;"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1_250_000, "1,250,000"), (10.5, "10.5"), (True, "true"), (None, ""), ("x", "x")],
)
def test_cells_of_tables_are_grouped(value, shown):
    assert words.grouped(value) == shown
