"""What a page is made of, and what in it no text from outside may have put there."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser

Attributes = dict[str, str]

STEERING = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""What a page shows by its number only."""
RAW = frozenset({"textarea", "script", "style"})
"""No element can stand in these: their text is as it was typed."""
TOLD = ("title", "aria-label", "alt", "placeholder", "data-said", "label")
"""Attributes that people read or hear."""
NEVER = frozenset(
    {
        "iframe",
        "frame",
        "object",
        "embed",
        "applet",
        "base",
        "math",
        "style",
        "template",
    }
    | {"image", "video", "audio", "source", "picture", "track", "portal"}
)
VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"})
FORM = frozenset({"form", "input", "button", "select", "textarea", "option", "dialog"})
KNOWN_HOSTS = re.compile(r"(?!//)[/?#.]|(?i:https?://|mailto:)|$")
OURS = ("/static/", "/admin/jsi18n/")
ADDRESSES = ("href", "src", "action", "formaction", "xlink:href", "poster", "srcset")
CHANGING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|\d+")


class Markup(HTMLParser):
    """The elements of a page in order, with the texts that stand in none of `RAW`."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, Attributes, bool]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self._prose = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.elements.append((tag, found, bool(self._prose)))
        if (self._prose and tag == "div") or "prose" in found.get("class", "").split():
            self._prose += tag == "div"
        self.texts += [found[name] for name in TOLD if name in found]
        if tag not in VOID:
            self._open.append("hidden" if "hidden" in found else tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self._prose:
            self._prose -= 1
        while self._open and self._open.pop() not in {tag, "hidden"}:
            pass

    def handle_data(self, data: str) -> None:
        if not (RAW | {"hidden"}) & set(self._open[-1:]):
            self.texts.append(data)


def dangers(markup: Markup) -> list[str]:
    """What runs, loads, leads or sends elsewhere than we do."""
    return [
        f"<{tag} {attributes}>: {wrong}"
        for tag, attributes, in_prose in markup.elements
        for wrong in _wrong(tag, attributes, in_prose)
    ]


def _wrong(tag: str, attributes: Attributes, in_prose: bool) -> Iterator[str]:
    if tag in NEVER:
        yield "never ours"
    if tag in {"script", "img"} and not attributes.get("src", "").startswith(OURS):
        yield "not of ours"
    if tag == "meta" and "http-equiv" in attributes:
        yield "steers the browser"
    for name, value in attributes.items():
        if name.startswith("on") or name in {"srcdoc", "style"}:
            yield f"{name} runs or dresses"
        if name in ADDRESSES and not KNOWN_HOSTS.match(value):
            yield f"{name} leads to {value}"
        if name in {"action", "src"} and not re.match(r"(?!//)[/?#]|$", value):
            yield f"{name} leaves us"
    if in_prose:
        yield from _wrong_in_prose(tag, attributes)


def _wrong_in_prose(tag: str, attributes: Attributes) -> Iterator[str]:
    """Where Markdown of models stands, nothing acts, names itself or looks like ours."""
    ours = attributes.get("class", "").startswith(("fig", "hidden-"))
    if tag in FORM or tag in {"details", "summary", "script", "meta", "link"}:
        yield "acts within prose"
    if not ours and {"id", "name", "target", "title"} & set(attributes):
        yield "names itself within prose"
    if any(name.startswith(("hx-", "data-")) for name in attributes) and not ours:
        yield "speaks to our scripts within prose"
    if tag == "a" and "href" in attributes and not ours:
        if attributes.get("rel") != "noopener noreferrer nofollow":
            yield "tells where it comes from"
        if not re.match(r"(?i:https?://|mailto:)", attributes["href"]):
            yield "leads into our own pages"


def unseen(markup: Markup) -> list[str]:
    """Texts that hide something, or read otherwise than they are."""
    return [text for text in markup.texts if STEERING.search(text)]


def skeleton(markup: Markup) -> Counter[str]:
    """All of a page that acts, leads or can be named, but for its prose, and marks of
    ours on figures and letters."""
    return Counter(
        f"{tag} {sorted(_shape(attributes))}"
        for tag, attributes, in_prose in markup.elements
        if _acts(tag, attributes) and not in_prose
    )


def _acts(tag: str, attributes: Attributes) -> bool:
    if attributes.get("class", "").startswith(("fig", "hidden-")):
        return False
    named = any(n in {"id", "name"} or n.startswith(("hx-", "on")) for n in attributes)
    return named or tag in FORM | NEVER | {"a", "script", "link", "meta", "details"}


def _shape(attributes: Attributes) -> Iterator[str]:
    for name, value in attributes.items():
        if name == "hidden":
            continue  # our own scripts show and hide
        told = name in {"id", "class", "name", "type", "hx-trigger", "hx-target"}
        yield f"{name}={CHANGING.sub('0', value)}" if told else name
