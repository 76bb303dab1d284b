"""A model on the loopback that answers at once, in a process of its own.

    with Stub() as stub:
        stub.base_url(calls=10, latency_ms=500)
        stub.served()

`POST /<latency_ms>/<calls>/v1/chat/completions` is answered from the messages sent
alone: fewer than calls - 1 tool messages get a call of `lookup`, any other number
the final text. `GET /count` tells how many completions were served.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

ROOT = Path(__file__).resolve().parents[2]
TOOL_MESSAGES = (b'"role":"tool"', b'"role": "tool"')
BACKLOG = 4096


def final_answer(calls: int) -> str:
    """What a run of so many model calls ends with."""
    return f"final answer after {calls - 1} lookups"


@lru_cache(maxsize=10_000)
def completion(lookups: int, calls: int) -> bytes:
    """The whole HTTP response to a request that carries so many results."""
    message: dict[str, Any] = {"role": "assistant", "content": final_answer(calls)}
    finish_reason = "stop"
    if lookups < calls - 1:
        function = {"name": "lookup", "arguments": f'{{"key": "item-{lookups}"}}'}
        call = {"id": f"call_{lookups}", "type": "function", "function": function}
        message = {
            "role": "assistant",
            "content": f"I need record {lookups} before I can go on.",
            "tool_calls": [call],
        }
        finish_reason = "tool_calls"
    read, written = 120 + 40 * lookups, 20
    return http(
        {
            "id": f"chatcmpl-{lookups}",
            "object": "chat.completion",
            "created": 1_790_000_000,
            "model": "stub",
            "choices": [
                {"index": 0, "message": message, "finish_reason": finish_reason}
            ],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
            },
        }
    )


def http(payload: dict[str, Any]) -> bytes:
    body = json.dumps(payload).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


class Connection(asyncio.Protocol):
    """One kept connection, one request at a time."""

    served = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.buffer = transport, bytearray()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        head = bytes(self.buffer[:end])
        length = _content_length(head)
        if len(self.buffer) >= end + length:
            body = bytes(self.buffer[end : end + length])
            self.buffer.clear()
            self.answer(head.split(b" ", 2)[1].decode(), body)

    def answer(self, path: str, body: bytes) -> None:
        if path == "/count":
            self.transport.write(http({"served": Connection.served}))
            return
        latency_ms, calls = path.split("/")[1:3]
        lookups = sum(body.count(mark) for mark in TOOL_MESSAGES)
        Connection.served += 1
        reply = completion(lookups, int(calls))
        if latency_ms == "0":
            self.transport.write(reply)
        else:
            loop = asyncio.get_running_loop()
            loop.call_later(float(latency_ms) / 1000, self.transport.write, reply)


def _content_length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"content-length:")
    return int(rest.split(b"\r\n", 1)[0]) if found else 0


async def serve(protocol: type[Connection] = Connection) -> None:
    """Print the port, and serve for ever."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(protocol, "127.0.0.1", 0, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Served:
    """A module that serves, as a process that lives as long as the block."""

    module: ClassVar[str]

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()


class Stub(Served):
    module = "tests.bench.stub"

    def base_url(self, calls: int, latency_ms: int = 0) -> str:
        return f"{self.address}/{latency_ms}/{calls}/v1"

    def served(self) -> int:
        """Completions since it was started."""
        address = f"{self.address}/count"
        with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310
            return int(json.load(answer)["served"])


if __name__ == "__main__":
    asyncio.run(serve())
