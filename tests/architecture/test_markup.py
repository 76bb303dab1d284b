"""Every place that makes HTML of text by itself, and why it is sound there."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

pytestmark = pytest.mark.once

RAW = {
    ".py": r"\b(?:mark_safe|format_html_join|format_html|SafeString|SafeText|html_safe"
    r"|safestring|Template)\(|__html__|allow_tags",
    ".html": r"\|\s*(?:safe|safeseq)\b|\{%\s*autoescape\s+off|json_script|\|escapejs",
    ".txt": r"\|\s*(?:safe|safeseq)\b|\{%\s*autoescape\s+off",
    ".js": r"innerHTML\s*\+?=|outerHTML\s*\+?=|insertAdjacentHTML|document\.write|srcdoc"
    r"|createContextualFragment|parseFromString|setHTML|\beval\(|new Function|DOMParser",
}
FOLDERS = ("agentops", "runs", "reviews", "templates", "static/js")

SOUND = {
    ("agentops/markdown.py", "mark_safe("): (1, "straight from the sanitiser"),
    ("agentops/reports.py", "SafeString("): (1, "plain text for a mail"),
    ("agentops/reports.py", "mark_safe("): (1, "Django's own page, escaped by it"),
    ("runs/admin.py", "format_html("): (2, "escapes what it is given"),
    ("runs/admin.py", "format_html_join("): (1, "escapes what it is given"),
    ("reviews/admin.py", "format_html("): (1, "escapes what it is given"),
    ("runs/templatetags/words.py", "SafeString("): (2, "empty"),
    ("runs/templatetags/words.py", "format_html("): (2, "escapes what it is given"),
    ("runs/templatetags/words.py", "mark_safe("): (
        3,
        "a constant; tags of the sanitiser between escaped texts; text escaped before",
    ),
    ("reviews/templatetags/provenance.py", "SafeString("): (1, "empty"),
    ("reviews/templatetags/provenance.py", "format_html("): (
        4,
        "escapes what it is given",
    ),
    ("reviews/templatetags/provenance.py", "format_html_join("): (
        1,
        "joins safe parts",
    ),
    ("reviews/templatetags/provenance.py", "mark_safe("): (
        1,
        "tags as the sanitiser left them",
    ),
    ("templates/emails/notification.txt", "{% autoescape off"): (1, "a mail as text"),
}
"""(file, what): how often, and why it is sound."""


def test_every_place_that_makes_html_of_text_is_known_with_its_reason():
    found = Counter(
        (str(path.relative_to(ROOT)), place)
        for path, pattern in sources()
        for place in re.findall(pattern, path.read_text(encoding="utf-8"))
    )

    assert dict(found) == {place: number for place, (number, _) in SOUND.items()}


def test_no_page_holds_a_script_a_style_or_a_handler_of_its_own():
    inline = re.compile(
        r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:|hx-on|hx-vals=.?js"
    )
    pages = [path for path, _ in sources() if path.suffix == ".html"]

    found = {
        str(path.relative_to(ROOT))
        for path in pages
        if inline.search(path.read_text(encoding="utf-8"))
    }

    assert found == {"templates/emails/notification.html"}


def test_what_opens_another_page_gives_nothing_along():
    """No link of ours opens a window that could reach back."""
    texts = [path.read_text(encoding="utf-8") for path, _ in sources()]

    opening = re.compile(r"target=.?_blank(?!. rel=.noopener)|window\.open")
    assert not [text for text in texts if opening.search(text)]


def sources() -> list[tuple[Path, str]]:
    return [
        (path, RAW[path.suffix])
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in RAW and path.is_file()
    ]
