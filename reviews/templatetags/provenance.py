"""Texts with a mark at each figure: links to the steps that brought them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from agentops import rendered
from agentops.markdown import to_html
from agentops.rendered import Part, Rendered
from reviews.provenance.marks import Index, Kind, Mark, Marked, Origin, marked
from runs.templatetags.words import visible

register = template.Library()

SIGNS = {
    Kind.ROUNDED: "≈",
    Kind.CASE: "Aa",
    Kind.ALIKE: "≠",
    Kind.NOWHERE: "?",
    Kind.UNSEARCHED: "?",
}
LETTERS = {Origin.TASK: "T", Origin.ADMIN: "A", Origin.PERSON: "P"}


@register.simple_tag(takes_context=True)
def step_address(context: Mapping[str, Any], step: int) -> str:
    """A place on this page where the step is on it, else the step's own page."""
    first = context.get("earlier") or 1
    if not context.get("in_pane") and step >= first:
        return f"#step-{step}"
    return reverse("runs:step", args=[context["run"].pk, step])


@register.simple_tag(takes_context=True)
def figured(
    context: Mapping[str, Any], text: str, figures: Sequence[Marked]
) -> SafeString:
    """Plain text with its figures marked and what is hidden made visible."""
    parts, at = [], 0
    for one in figures:
        parts += [visible(text[at : one.start])]
        parts += [_figure(context, text[one.start : one.end], one.mark)]
        at = one.end
    return _joined([*parts, visible(text[at:])])


@register.simple_tag(takes_context=True)
def figured_markdown(context: Mapping[str, Any], text: str, index: Index) -> SafeString:
    """Markdown as its reader gets it, figures marked and links told in full."""
    return _joined(list(_written(context, _page(text), index)))


@lru_cache(maxsize=256)
def _page(text: str) -> Rendered:
    """Pane, page and refused forms show the same text in turn."""
    return rendered.read(to_html(text))


def _joined(parts: Sequence[SafeString]) -> SafeString:
    return format_html_join("", "{}", ((part,) for part in parts))


def _figure(
    context: Mapping[str, Any], text: str, mark: Mark, *, linked: bool = True
) -> SafeString:
    words, tone = mark.words, mark.tone
    kind = "fig" if mark.kind is not Kind.UNCLEAR else "fig fig-unclear"
    inside = format_html(
        '{}<sup aria-hidden="true">{}</sup><span class="hidden-visually"> ({})</span>',
        visible(text),
        sign(mark),
        visible(mark.short),
    )
    toned = format_html(' data-tone="{}"', tone) if tone else SafeString("")
    if mark.step is None or not linked:
        return format_html(
            '<span class="{}" title="{}"{}>{}</span>', kind, words, toned, inside
        )
    address = step_address(context, mark.step)
    return format_html(
        '<a class="{}" href="{}" title="{}"{}>{}</a>',
        kind,
        address,
        words,
        toned,
        inside,
    )


def sign(mark: Mark) -> str:
    """The small sign behind a figure; the legend tells them."""
    number = "" if mark.step is None else str(mark.step)
    if mark.kind is Kind.SOURCED and mark.place is not None:
        return number or LETTERS.get(mark.place.origin, "")
    return SIGNS.get(mark.kind, "") + (number if mark.kind is Kind.ROUNDED else "")


# Rendered text


def _written(
    context: Mapping[str, Any], page: Rendered, index: Index
) -> Iterator[SafeString]:
    figures = marked("".join(page.texts), index)
    place = 0
    for part in page.parts:
        if part.tag:
            yield mark_safe(part.tag)  # noqa: S308 - from the sanitiser, as it was
            continue
        end = part.start + len(part.text)
        while place < len(figures) and figures[place].end <= part.start:
            place += 1
        yield from _with_figures(context, part, figures[place:], end)


def _with_figures(
    context: Mapping[str, Any], part: Part, figures: Sequence[Marked], end: int
) -> Iterator[SafeString]:
    at = part.start
    for one in figures:
        if one.start >= end:
            break
        start, stop = max(one.start, at), min(one.end, end)
        yield visible(part.text[at - part.start : start - part.start])
        inside = part.text[start - part.start : stop - part.start]
        if stop == one.end:
            yield _figure(context, inside, one.mark, linked=not part.in_link)
        else:
            yield visible(inside)
        at = stop
    yield visible(part.text[at - part.start :])
