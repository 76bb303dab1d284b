"""Slack, Teams, PagerDuty and webhooks on this host: a real HTTP server.

Webhooks are sent to it by their address. The others have addresses of their own in
apprise; `tests.support.posting_here` is the sending process with these led here, its
requests otherwise as they are.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHILD = "tests.support.posting_here"
HERE = "AGENTOPS_TEST_SERVICES"


@dataclass
class Services:
    """What has come in: `paths` and `bodies`, oldest first. Answer as you like."""

    url: str
    status: int = 200
    drips: bool = False
    location: str = ""
    paths: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)

    @property
    def body(self) -> Any:
        """The only one."""
        (body,) = self.bodies
        return body


@contextmanager
def served() -> Iterator[Services]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            services.bodies.append(json.loads(self.rfile.read(length)))
            services.paths.append(self.path)
            with suppress(OSError):
                self._drip() if services.drips else self._answer()

        def _answer(self) -> None:
            self.send_response(services.status)
            if services.location:
                self.send_header("Location", services.location)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def _drip(self) -> None:
            """A byte now and then, for ever: no timeout of a single read ends it."""
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while not stopping.wait(0.2):
                self.wfile.write(b".")

        def log_message(self, *_: Any) -> None:
            pass

    stopping = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    services = Services(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield services
    finally:
        stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()
