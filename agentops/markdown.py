"""The one place where Markdown from models and people becomes HTML.

Raw HTML in it stays text. Images do not load (an address may carry data out), links
name a whole address of http, https or mailto (one within our own pages could pass for
a button of ours), and whatever is left passes a sanitiser.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from typing import Any

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

MAX_CHARACTERS = 200_000

_TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "strong", "ul"),
    *("table", "tbody", "td", "th", "thead", "tr"),
}
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
_CLASSES = {"td": {"num"}, "th": {"num"}}
_SCHEMES = {"http", "https", "mailto"}
_WHOLE = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)

_parser = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["table", "strikethrough"])
    .disable("image")
)


def _cell(
    self: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    env: MutableMapping[str, Any],
) -> str:
    """A cell set to the right gets a class: inline styles are not allowed here."""
    token = tokens[index]
    style = token.attrs.pop("style", "")
    if "right" in str(style):
        token.attrSet("class", "num")
    return self.renderToken(tokens, index, options, env)


_parser.add_render_rule("td_open", _cell)
_parser.add_render_rule("th_open", _cell)


def _kept(tag: str, attribute: str, value: str) -> str | None:
    """The sanitiser lets `title` and `lang` through, wherever they are."""
    if attribute not in {"href", "rel", "start", "class"}:
        return None
    return None if attribute == "href" and not _WHOLE.match(value) else value


def to_html(text: str) -> SafeString:
    """HTML that is safe on our pages and in mails; very long text is cut."""
    shown = text[:MAX_CHARACTERS]
    if len(shown) < len(text):
        shown += "\n\n…"
    html = nh3.clean(
        _parser.render(shown),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        attribute_filter=_kept,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(html)  # noqa: S308 - it comes from the sanitiser
