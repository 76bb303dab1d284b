"""What a browser finds in a page: its forms, filled in as they stand."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

Fields = list[tuple[str, str]]
LEFT_OUT = {"submit", "button", "checkbox", "radio", "file"}


@dataclass
class Form:
    action: str
    fields: Fields = field(default_factory=list)

    def filled(self, **more: str) -> Fields:
        """Its fields with these in the place of those of the same name."""
        kept = [(name, value) for name, value in self.fields if name not in more]
        return [*kept, *more.items()]


class Forms(HTMLParser):
    """All forms of a page. A tick counts if it is set, a select by what is chosen."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.outside = Form("")
        self._open = self.outside
        self._select = self._textarea = ""
        self._text = ""
        self.feed(page)

    def of(self, ending: str) -> Form | None:
        """The first whose action has this in it."""
        return next((form for form in self.found if ending in form.action), None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._open = Form(given.get("action", ""))
            self.found.append(self._open)
        elif tag == "input" and given.get("name"):
            self._input(given, dict(attrs))
        elif tag == "textarea":
            self._textarea, self._text = given.get("name", ""), ""
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and "selected" in given and self._select:
            self._open.fields.append((self._select, given.get("value", "")))

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = self.outside
        elif tag == "textarea" and self._textarea:
            value = self._text.removeprefix("\n")
            self._open.fields.append((self._textarea, value))
            self._textarea = ""
        elif tag == "select":
            self._select = ""

    def _input(self, given: dict[str, str], all_: dict[str, str | None]) -> None:
        if given.get("type", "text") not in LEFT_OUT or "checked" in all_:
            self._open.fields.append((given["name"], given.get("value", "")))
