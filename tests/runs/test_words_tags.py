"""The tags and filters of the templates: what is hidden becomes visible, text stays text."""

from __future__ import annotations

import pytest
from django.utils.safestring import SafeString

from runs.templatetags import words


@pytest.mark.parametrize(
    "character",
    ["\x00", "\x1b", "\x7f", "\u202e", "\u200b", "\U000e0041", "\u034f", "\u3164"],
)
def test_a_character_that_cannot_be_seen_is_shown_as_its_code(character):
    shown = words.visible(f"a{character}b")

    assert character not in shown
    assert f"U+{ord(character):04X}" in shown


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("analytics@c\u043empany.com", "\u043e"),
        ("https://c\u043empany.com/a", "\u043e"),
        ("\u0430\u0441\u0435.com", "\u0441"),  # all Cyrillic but the ending
        ("b\u00fccher@example.com", "\u00fc"),
        ("pay p\u0430ypal now", "\u0430"),
        ("order A1\uff12", "\uff12"),
    ],
)
def test_letters_that_pass_for_others_are_named(text, letter):
    shown = words.visible(text)

    assert f"{letter}<small>U+{ord(letter):04X}</small>" in shown


@pytest.mark.parametrize(
    "text",
    [
        "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440",
        "K\u00f6ln, caf\u00e9",
        "37.3\u00a0%",
        "\u65e5\u672c",
        "Growth in \u041c\u043e\u0441\u043a\u0432\u0430.",
        "\u0394 is \u03c0",
    ],
)
def test_honest_words_of_any_alphabet_stay_as_they_are(text):
    assert words.visible(text) == text


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
