"""What one model call costs here: `python -m tests.bench.client`.

Milliseconds of `OpenAIClient.complete()` against a loopback stub in a process of
its own, by the number of messages sent (0.4 kB each): as dicts, and as JSON that the
caller has already. The best of several rounds' medians.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import statistics
import time
from dataclasses import replace
from multiprocessing.connection import Connection

from runs.canonical import dumps
from runs.llm.base import Message, Request
from runs.llm.openai import OpenAIClient
from tests.support.replies import text

SIZES = (2, 100, 400)
ROUNDS = 5
CALLS = 200
WORDS = "revenue of the month and how it compares with the one before " * 6


class Stub(asyncio.Protocol):
    """Answers each complete request with the same completion."""

    body = text("Done.").body
    reply = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n" % len(body)
    ) + body

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.buffer = transport, bytearray()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(rest) >= length:
            del self.buffer[: len(head) + 4 + length]
            assert isinstance(self.transport, asyncio.Transport)
            self.transport.write(self.reply)


def serve(ports: Connection) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Stub, "127.0.0.1", 0)
        ports.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def conversation(messages: int) -> list[Message]:
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": WORDS} for n in range(messages)]


def milliseconds(client: OpenAIClient, messages: int, *, encoded: bool) -> float:
    talk = conversation(messages)
    request = Request("stub", talk, 100, 30.0)
    if encoded:
        request = replace(request, encoded=[dumps(message) for message in talk])
    medians = []
    for _ in range(ROUNDS):
        times = []
        for _ in range(CALLS):
            started = time.perf_counter()
            client.complete(request)
            times.append(time.perf_counter() - started)
        medians.append(statistics.median(times))
    return min(medians) * 1000


def main() -> None:
    ours, theirs = multiprocessing.Pipe()
    stub = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    stub.start()
    client = OpenAIClient(f"http://127.0.0.1:{ours.recv()}/v1", "sk-bench-only")
    found = {
        name: {n: round(milliseconds(client, n, encoded=given), 3) for n in SIZES}
        for name, given in (("messages", False), ("encoded", True))
    }
    client.close()
    stub.terminate()
    print(json.dumps({"ms_per_call_by_number_of_messages": found}))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.support.settings")
    main()
