"""Sanitised HTML as tags and texts, for who has more to say to its readers.

Links are told in full: what a link says, anybody can choose.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

INLINE = frozenset({"a", "code", "del", "em", "s", "strong"})


@dataclass
class Part:
    """A tag as it stands, or a text with its place in the text of the whole."""

    tag: str
    text: str = ""
    start: int = 0
    in_link: bool = False


@dataclass
class Rendered(HTMLParser):
    """`parts` in order. A figure may be set in bold in its middle, so texts count as
    one up to the end of their paragraph or cell."""

    parts: list[Part] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    size: int = 0
    link: str = ""
    said: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._apart(tag)
        self.parts.append(Part(self.get_starttag_text() or ""))
        if tag == "a":
            self.link, self.said = dict(attrs).get("href") or "", ""

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(Part(f"</{tag}>"))
        if tag == "a":
            target, self.link = self.link, ""
            if target and self.said not in {target, target.removeprefix("mailto:")}:
                self._add(f" ({target})")
        self._apart(tag)

    def handle_data(self, data: str) -> None:
        self.said += data
        self._add(data)

    def _add(self, text: str) -> None:
        self.parts.append(Part("", text, self.size, bool(self.link)))
        self.texts.append(text)
        self.size += len(text)

    def _apart(self, tag: str) -> None:
        if tag not in INLINE:
            self.texts.append("\n")
            self.size += 1


def read(html: str) -> Rendered:
    """What the sanitiser gave (`agentops.markdown.to_html`), and nothing else."""
    page = Rendered()
    page.feed(html)
    page.close()
    return page
