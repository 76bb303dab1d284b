"""People at the pages all the while: one who reads, one who gives tasks."""

from __future__ import annotations

import http.client
import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from django.contrib.auth.models import User

from tests.support.signed_in import TOKEN, cookies_of

PAGES = ("/reviews/", "/runs/", "/pulse/")
READS_EVERY_S = 0.2
SUBMITS_EVERY_S = 2.0
AGAIN_S = 0.3
AWAY = {0, HTTPStatus.SERVICE_UNAVAILABLE}
KEYS = "by the page"


class Visitor(threading.Thread):
    """Visits until `leave`; `got` counts the answers, 0 for none, `broken` tells of
    those that should not be."""

    def __init__(self, url: str) -> None:
        super().__init__(name=type(self).__name__, daemon=True)
        self._host = urlsplit(url).netloc
        self._gone = threading.Event()
        cookies = cookies_of(User.objects.get(username="asker"))
        self._cookies = "; ".join(f"{name}={value}" for name, value in cookies.items())
        self.got: Counter[int] = Counter()
        self.broken: list[str] = []

    def leave(self) -> None:
        self._gone.set()
        self.join(60)

    def ask(self, method: str, path: str, fields: dict[str, str] | None = None) -> int:
        """The status; 0 if the server was gone before it had answered."""
        kind = "application/x-www-form-urlencoded"
        headers = {"Cookie": self._cookies, "Content-Type": kind}
        connection = http.client.HTTPConnection(self._host, timeout=30)
        try:
            connection.request(method, path, urlencode(fields or {}), headers)
            answer = connection.getresponse()
            answer.read()
            status = answer.status
        except (OSError, http.client.HTTPException):
            status = 0
        finally:
            connection.close()
        self.got[status] += 1
        return status


class Reader(Visitor):
    """Each page comes, or says that the database is away."""

    def run(self) -> None:
        for page in itertools.cycle(PAGES):
            if self._gone.wait(READS_EVERY_S):
                return
            status = self.ask("GET", page)
            if status not in {*AWAY, HTTPStatus.OK}:
                self.broken.append(f"{page} was answered with {status}")


class Submitter(Visitor):
    """Sends each form until it is taken; `taken` are the keys of those that were.
    Sends no other while `resting`."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.taken: list[str] = []
        self.resting = threading.Event()

    def run(self) -> None:
        for key in self._keys():
            while (status := self._submit(key)) in AWAY:
                self._gone.wait(AGAIN_S)
            if status == HTTPStatus.FOUND:
                self.taken.append(key)
            else:
                self.broken.append(f"a task was answered with {status}")

    def _keys(self) -> Iterator[str]:
        for number in itertools.count(1):
            if self._gone.wait(SUBMITS_EVERY_S):
                return
            if self.resting.is_set():
                continue
            yield f"{KEYS} {number:05}"

    def _submit(self, key: str) -> int:
        fields = {"agent": "clerk", "task": "Post a letter.", "key": key}
        return self.ask("POST", "/runs/new/", {**fields, "csrfmiddlewaretoken": TOKEN})
