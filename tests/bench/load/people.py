"""The people, in a process of their own: each reads, thinks, polls as pages do, decides.

    python -m tests.bench.load.people URL PASSWORD OPERATORS SUBMITTERS SECONDS SEED

Prints the book as one line of JSON. A person is a thread with a connection and a
session of its own. Between two clicks it thinks for 2 to 10 seconds, while the page it
looks at asks for news as often as the page's markup says.
"""

from __future__ import annotations

import html
import os
import random
import re
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2

from tests.bench.load.book import Book
from tests.bench.load.pages import Fields, Form, Forms

THINKS_S = (2.0, 10.0)
ARRIVE_S = 30.0
NAME = re.compile(r'id="item-([0-9a-f-]{36})"')
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]*)"')
RUN = re.compile(r'href="/runs/([0-9a-f-]{36})/"')
STOP = 286
WELL = {200, 204, STOP, 302}
MARK = re.compile(r'name="mark" value="([^"]*)"')
SHOWN = re.compile(
    r'name="(mark|state|shown|lost|notes|newest|from|seen|line)" (?:[^>]* )?value="([^"]*)"'
)
ASKS = re.compile(
    r'hx-get="([^"]+)"(?: [\w-]+="[^"]*")*? hx-trigger="every (\d+)s(?:[^"]*)"'
)
FIRST_ROWS = 20
HELD = "You hold this"
HASTY = 0.2
"""The share of those who decide although somebody else holds the item."""
FIELD = "in_number"
LISTS = ("", "", "", "?q=found", "?view=unclaimed", "?view=decided")
WAYS = ("approve", "approve", "approve", "approve", "reject", "reject", "guide", "edit")


@dataclass(frozen=True)
class Poll:
    """An address asked again and again, with what the page shows."""

    address: str
    every_s: float
    sent: Fields = field(default_factory=list)
    is_post: bool = False


class Person(threading.Thread):
    """One browser. `until` is a moment of the monotonic clock."""

    def __init__(
        self, url: str, name: str, password: str, book: Book, until: float, seed: int
    ) -> None:
        super().__init__(name=name, daemon=True)
        self.book = book
        self.chance = random.Random(seed)
        self._until = until
        self._password = password
        # The server closes a connection after 2 s without use: as browsers do, none is
        # used again that may be closed at this moment.
        limits = httpx2.Limits(keepalive_expiry=1.0)
        self._client = httpx2.Client(base_url=url, timeout=30, limits=limits)

    def run(self) -> None:
        try:
            time.sleep(self.chance.uniform(0, ARRIVE_S))
            self._sign_in()
            while not self.is_over:
                self.visit()
        except Exception as error:  # noqa: BLE001 - the report tells of it
            self.book.trouble(f"{self.name}: {error!r}")

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self._until

    def visit(self) -> None:
        raise NotImplementedError

    def get(self, what: str, address: str) -> str:
        return self._ask(what, "GET", address).text

    def post(self, what: str, address: str, sent: Fields) -> httpx2.Response:
        return self._ask(what, "POST", address, sent)

    def think(self, polls: Sequence[Poll] = ()) -> None:
        """Some seconds, in which the page asks for news."""
        ends = time.monotonic() + self.chance.uniform(*THINKS_S)
        due = {poll: time.monotonic() + poll.every_s for poll in map(_Each, polls)}
        while (now := time.monotonic()) < ends:
            following = min([*due.values(), ends])
            time.sleep(max(0.0, following - now))
            for each, at in list(due.items()):
                if at <= time.monotonic() < ends:
                    due[each] = time.monotonic() + each.every_s
                    if not self._poll(each):
                        del due[each]

    def _poll(self, each: _Each) -> bool:
        """Is it to be asked again?"""
        found = self._ask(
            "poll",
            "POST" if each.is_post else "GET",
            each.address,
            each.sent,
            is_htmx=True,
        )
        each.take(found.text)
        return found.status_code != STOP

    def _ask(
        self,
        what: str,
        method: str,
        address: str,
        sent: Fields | None = None,
        *,
        is_htmx: bool = False,
    ) -> httpx2.Response:
        headers = {"HX-Request": "true"} if is_htmx else {}
        data: dict[str, list[str]] = {}
        for name, value in sent or []:
            data.setdefault(name, []).append(value)
        is_post = method == "POST"
        began = time.perf_counter()
        found = self._client.request(
            method,
            address,
            headers=headers,
            data=data if is_post and data else None,
            params=data if data and not is_post else None,
        )
        self.book.request(what, began)
        if found.status_code not in WELL and not (
            found.status_code == 409 and method == "POST"
        ):
            self.book.trouble(f"{method} {address}: {found.status_code}")
        return found

    def _sign_in(self) -> None:
        form = Forms(self.get("sign in", "/accounts/login/")).of("") or Form("")
        named = form.filled(username=self.name, password=self._password)
        found = self.post("sign in", "/accounts/login/", named)
        if found.status_code != 302:
            raise RuntimeError("not signed in")


class _Each:
    """A poll under way: what the page sends is what it was last answered."""

    def __init__(self, poll: Poll) -> None:
        self.address, self.every_s, self.sent = poll.address, poll.every_s, poll.sent
        self.is_post = poll.is_post

    def take(self, page: str) -> None:
        told = dict(SHOWN.findall(html.unescape(page)))
        self.sent = [(name, told.get(name, value)) for name, value in self.sent]


class Operator(Person):
    """Takes an item from the list, claims it, and decides."""

    def visit(self) -> None:
        page = self.get("inbox", "/reviews/" + self.chance.choice(LISTS))
        items = NAME.findall(page)[:FIRST_ROWS]
        asks = [*_polls(page), *_rows(page)]
        if items:  # the first one stands beside the list
            asks += _polls(self.get("pane", f"/reviews/{items[0]}/pane/"))
        self.think(asks)
        if items and not self.is_over:
            self._decide_on(self.chance.choice(items))

    def _decide_on(self, review: str) -> None:
        address = f"/reviews/{review}/"
        page = self.get("item", address)
        polls = _polls(page)
        self.think(polls)
        forms = Forms(page)
        kind = self.chance.choice(WAYS)
        form = forms.of(f"{address}decide/{kind}/")
        if form is None or self.is_over:
            return
        sent = [("act", "claim"), *_token(form)]
        held = self._ask("claim", "POST", f"{address}hold/", sent, is_htmx=True)
        if HELD in held.text or self.chance.random() < HASTY:
            self.think(polls)
            self._send(review, kind, form)

    def _send(self, review: str, kind: str, form: Form) -> None:
        found = self.post("decide", form.action, form.filled(**_words(kind)))
        if found.status_code == 409:
            self.book.came_second()
            return
        if found.status_code != 302:
            self.book.trouble(f"{kind} was answered with {found.status_code}")
            return
        self.book.decided(review, self.name, kind)
        page = self.get("item", f"/reviews/{review}/")
        undo = Forms(page).of("/undo/")
        if undo and self.chance.random() < 0.1:
            self._take_back(review, kind, undo)
        self.think(_polls(page))

    def _take_back(self, review: str, kind: str, form: Form) -> None:
        if self.post("undo", form.action, form.fields).status_code == 302:
            self.book.took_back(review, self.name, kind)


class Submitter(Person):
    """Looks at the list of runs and at a run that goes on; submits one now and then."""

    def visit(self) -> None:
        page = self.get("runs", "/runs/")
        runs = RUN.findall(page)
        self.think(_polls(page, [("id", run) for run in runs]))
        if runs:
            address = f"/runs/{self.chance.choice(runs)}/"
            self.think(_polls(self.get("run", address)))
        if self.chance.random() < 0.3 and not self.is_over:
            self._submit()

    def _submit(self) -> None:
        address = "/runs/new/?agent=load"
        form = Forms(self.get("new", address)).of("/runs/new/")
        self.think()
        if form:
            number = str(self.chance.randint(1, 60))
            found = self.post("submit", form.action, form.filled(**{FIELD: number}))
            if found.status_code != 302:
                self.book.trouble(f"a task was answered with {found.status_code}")


def _rows(page: str) -> list[Poll]:
    token = TOKEN.search(page)
    ids = [("id", one) for one in NAME.findall(page)]
    mark = MARK.search(page)
    sent = [*ids, ("mark", mark[1] if mark else "")]
    sent += [("csrfmiddlewaretoken", token[1])] if token else []
    return [Poll("/reviews/rows/", 4, sent, is_post=True)]


def _polls(page: str, rows: Sequence[tuple[str, str]] = ()) -> list[Poll]:
    """What the markup of a page asks by itself, with what the page shows."""
    page = html.unescape(page)
    shown = [*SHOWN.findall(page), *rows]
    return [Poll(address, float(every), shown) for address, every in ASKS.findall(page)]


def _token(form: Form) -> Fields:
    return [field for field in form.fields if field[0] == "csrfmiddlewaretoken"]


def _words(kind: str) -> dict[str, str]:
    if kind == "edit":
        return {"subject": "What I found, and that is all"}
    if kind == "approve":
        return {"note": "Go on."}
    return {"text": "Not this week, please."}


def main() -> None:
    url, password, operators, submitters, seconds, seed = sys.argv[1:]
    book = Book()
    opened = time.monotonic() + ARRIVE_S + 10
    until = opened + float(seconds)
    people: list[Person] = [
        kind(url, f"{word}{number}", password, book, until, int(seed) + number)
        for kind, word, count in (
            (Operator, "operator", int(operators)),
            (Submitter, "submitter", int(submitters)),
        )
        for number in range(count)
    ]
    for person in people:
        person.start()
    time.sleep(max(0.0, opened - time.monotonic()))
    book.open()
    for person in people:
        person.join()
    used = os.times()
    book.cpu_s = used.user + used.system
    print(book.dumps(), flush=True)


if __name__ == "__main__":
    main()
