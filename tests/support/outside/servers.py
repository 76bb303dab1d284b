"""A mail server and an HTTP server on this host that count what they get.

Each call of an irreversible tool is known outside by its idempotency key: mail
carries it as Message-ID, a request in a header, a line of the file as it is. An
effect is counted before it is answered, and the answer takes a moment, so that a
process may well be killed between the two.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller

from tests.support import acts

ENVIRONMENT = "AGENTOPS_TEST_OUTSIDE"
TAKES_S = 0.15
HELD_S = 60.0


class Outside:
    """What has happened, counted by tool and key; thread-safe. `paths` are those of
    the HTTP server that were asked for; it answers while the `gate` is set."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        self.paths: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.url = ""
        self.smtp_port = 0

    def take(self, tool: str, key: str) -> None:
        with self._lock:
            self._seen[tool, key] += 1

    def counts(self) -> Counter[tuple[str, str]]:
        """How often each call took effect; those of the file are counted with it."""
        with self._lock:
            counted = Counter(self._seen)
        counted.update((str(act["tool"]), str(act["key"])) for act in acts.acts())
        return counted

    def count(self, key: str) -> int:
        return sum(n for (_, known), n in self.counts().items() if known == key)

    def environment(self) -> dict[str, str]:
        """What tells the product, and a child, where all that is."""
        return {
            ENVIRONMENT: self.url,
            acts.LOG: os.environ[acts.LOG],
            "EMAIL_HOST": "127.0.0.1",
            "EMAIL_PORT": str(self.smtp_port),
            "EMAIL_SECURITY": "none",
            "AGENTOPS_APPS": "tests.support.outside",
        }


def count(key: str) -> int:
    """The same, asked from another process."""
    address = os.environ[ENVIRONMENT] + f"/count/{key}"
    with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310
        return int(json.load(answer))


@contextlib.contextmanager
def serving(takes_s: float = TAKES_S) -> Iterator[Outside]:
    """Both servers for the block. `takes_s`: how long each waits before it answers."""
    outside = Outside()
    with _http(outside, takes_s), _smtp(outside, takes_s):
        yield outside


@contextlib.contextmanager
def _http(outside: Outside, takes_s: float) -> Iterator[None]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, _, key = self.path.removeprefix("/").partition("/")
            if kind == "count":
                self._answer(outside.count(key))
                return
            outside.paths.append(self.path)
            self._take_time()
            self._answer({"open": True})

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            outside.paths.append(self.path)
            outside.take("http_request", self.headers["Idempotency-Key"])
            self._take_time()
            self._answer({"ordered": True})

        def _take_time(self) -> None:
            time.sleep(takes_s)
            outside.gate.wait(HELD_S)

        def _answer(self, content: Any) -> None:
            body = json.dumps(content).encode()
            with contextlib.suppress(OSError):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    outside.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asked was killed meanwhile: that is what this is for."""


@contextlib.contextmanager
def _smtp(outside: Outside, takes_s: float) -> Iterator[None]:
    class Mailbox:
        async def handle_DATA(  # noqa: N802 - the name aiosmtpd looks for
            self, server: Any, session: Any, envelope: Any
        ) -> str:
            message = message_from_bytes(envelope.content)
            key = message["Message-ID"].strip().strip("<>").partition("@")[0]
            outside.take("send_email", key)
            await asyncio.sleep(takes_s)
            return "250 OK"

    with socket.create_server(("127.0.0.1", 0)) as free:
        outside.smtp_port = free.getsockname()[1]
    controller = Controller(Mailbox(), "127.0.0.1", outside.smtp_port)
    controller.start()
    try:
        yield
    finally:
        controller.stop()
