"""Somebody who reads pages all the while: each comes, or says what is the matter."""

from __future__ import annotations

import itertools
import threading
import urllib.error
import urllib.request
from collections import Counter

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

PAGES = ("/reviews/", "/runs/", "/pulse/")
PAUSE_S = 0.2
WELL = {200, 503}


class Reader(threading.Thread):
    """Reads until `leave`; `got` counts the answers, 0 for none at all."""

    def __init__(self, url: str) -> None:
        super().__init__(name="reader", daemon=True)
        self._url = url
        self._gone = threading.Event()
        signed_in = Client()
        signed_in.force_login(User.objects.get(username="boss"))
        value = signed_in.cookies[settings.SESSION_COOKIE_NAME].value
        self._cookie = f"{settings.SESSION_COOKIE_NAME}={value}"
        self.got: Counter[int] = Counter()
        self.broken: list[str] = []

    def run(self) -> None:
        for page in itertools.cycle(PAGES):
            if self._gone.wait(PAUSE_S):
                return
            status = self._read(page)
            self.got[status] += 1
            if status and status not in WELL:
                self.broken.append(f"{page} was answered with {status}")

    def leave(self) -> None:
        self._gone.set()
        self.join(30)

    def _read(self, page: str) -> int:
        request = urllib.request.Request(  # noqa: S310 - the installation's own
            self._url + page, headers={"Cookie": self._cookie}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except (OSError, EOFError):
            return 0
