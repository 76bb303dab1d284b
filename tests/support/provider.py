"""A scripted, strict provider: at the transport, or as a loopback server.

    provider = ScriptedProvider(plan("Read"), calls(("echo", {"text": "x"})), text("ok"))
    client = OpenAIClient(BASE_URL, "sk-test", transport=provider.transport)

    with provider.serve() as base_url:      # the same script over a real socket
        ...

A script is a list of answers or of functions from the request's body to an
answer. Requests that a strict provider would refuse are answered with 400 and
kept in `problems`; `assert_clean()` at a test's end says so. What a network does
(hang, drip, reset) happens for real on the server; at the transport it is the
error that the client would have seen.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2

from tests.support import strict
from tests.support.replies import Answer, error

BASE_URL = "http://provider.test/v1"

Entry = Answer | Callable[[dict[str, Any]], Answer]


@dataclass(frozen=True)
class Received:
    """One request: the body parsed, and the headers with lower-case names."""

    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def tool_results(self) -> list[str]:
        return [m["content"] for m in self.messages if m["role"] == "tool"]


class ScriptedProvider:
    """Answers the script in order, then `then` for ever (else 400); thread-safe."""

    def __init__(
        self,
        *script: Entry,
        then: Entry | None = None,
        strict: bool = True,
        more_fields: frozenset[str] = frozenset(),
        more_message_fields: frozenset[str] = frozenset(),
    ) -> None:
        self.requests: list[Received] = []
        self.problems: list[str] = []
        self.transport = httpx2.MockTransport(self._at_transport)
        self._script = list(script)
        self._then = then
        self._strict = strict
        self._more = {
            "more_fields": more_fields,
            "more_message_fields": more_message_fields,
        }
        self._lock = threading.Lock()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]

    def add(self, *script: Entry) -> None:
        """More answers, after those that are left."""
        with self._lock:
            self._script.extend(script)

    def assert_clean(self) -> None:
        assert not self.problems, "\n".join(self.problems)

    def answer(self, content: bytes, headers: Mapping[str, str]) -> Answer:
        """Record a request and take the next entry of the script."""
        body = json.loads(content)
        with self._lock:
            self.requests.append(Received(body, headers))
            number = len(self.requests)
            found = strict.problems(body, **self._more) if self._strict else []
            self.problems.extend(f"request {number}: {problem}" for problem in found)
            entry = None if found else self._next(number)
        if entry is None:
            return error(
                400, "invalid_request", message="; ".join(found) or "no script"
            )
        return entry if isinstance(entry, Answer) else entry(body)

    def _next(self, number: int) -> Entry | None:
        if self._script:
            return self._script.pop(0)
        if self._then is None:
            self.problems.append(f"request {number}: the script has no more answers")
        return self._then

    def _at_transport(self, request: httpx2.Request) -> httpx2.Response:
        headers = {k.lower(): v for k, v in request.headers.items()}
        answer = self.answer(request.read(), headers)
        if answer.hangs or answer.drip_s:
            raise httpx2.ReadTimeout("scripted", request=request)
        if answer.resets:
            raise httpx2.RemoteProtocolError("scripted", request=request)
        return httpx2.Response(
            answer.status, headers=answer.headers, content=answer.body
        )

    @contextmanager
    def serve(self) -> Iterator[str]:
        """The same script on a free loopback port; gives the base URL."""
        server = _Server(self)
        thread = threading.Thread(
            target=server.serve_forever, args=(0.02,), daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.closing.set()
            server.shutdown()
            server.server_close()
            thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, provider: ScriptedProvider) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.provider = provider
        self.closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["content-length"]))
        headers = {k.lower(): v for k, v in self.headers.items()}
        answer = self.server.provider.answer(content, headers)
        try:
            self._send(answer)
        except OSError:
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        if answer.delay_s:
            self.server.closing.wait(answer.delay_s)
        if answer.hangs:
            self.server.closing.wait(60)
        if answer.hangs or answer.resets:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        self._write(answer)

    def _write(self, answer: Answer) -> None:
        if not answer.drip_s:
            self.wfile.write(answer.body)
            return
        for place in range(len(answer.body)):
            self.wfile.write(answer.body[place : place + 1])
            if self.server.closing.wait(answer.drip_s):
                return

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: tests read `requests`."""
