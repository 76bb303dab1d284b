"""The single keys, in one list: the legend shows it, `static/js/keys.js` obeys it.

A key does what something on the page does, too: a link, a button or a field.
"""

from __future__ import annotations

from dataclasses import dataclass

from reviews.decisions import registry


@dataclass(frozen=True)
class Key:
    """`name` is how the script knows it; `shown` what is on the keyboard."""

    name: str
    words: str
    shown: tuple[str, ...]


def _key(name: str, words: str, *shown: str) -> Key:
    return Key(name, words, shown or (name,))


MOVING = (
    _key("j", "Down, up", "j", "k"),
    _key("Enter", "Open; after a decision, next item"),
    _key("x", "Select, to decide on several"),
    _key("c", "Claim, or take over"),
)
GOING = (
    _key("n", "Next item"),
    _key("z", "Undo the decision"),
    _key("/", "Search"),
    _key("?", "These keys"),
    _key("Esc", "Close, back"),
    _key("Ctrl+Enter", "Send the form", "Ctrl", "Enter"),
)


def legend() -> list[Key]:
    """Every key there is; a page shows those that do something on it."""
    kinds = [kind for kind in registry.all_kinds() if kind.key]
    return [*MOVING, *(_key(kind.key, kind.words) for kind in kinds), *GOING]
