"""A model in a process of its own that takes some seconds for each answer.

A run's task says how often it looks something up ("look up 12"); then its model wants
to send an e-mail, of which the check is not sure enough. `GET /hurry` makes it end
every run at once.
"""

from __future__ import annotations

import asyncio
import random
import re
import urllib.request

from tests.bench import stub
from tests.bench.stub import TOOL_MESSAGES
from tests.support.replies import Answer, calls, check, text

TAKES_S = (5.0, 15.0)
HURRIED_S = 0.05
WANTED = re.compile(rb"[Ll]ook up (\d+)")
MAIL = {
    "to": ["team@example.com"],
    "subject": "What I found",
    "body_markdown": "All of it is as it was. Nothing has to be done.",
}


class Connection(stub.Connection):
    is_hurried = False

    def answer(self, path: str, body: bytes) -> None:
        if path == "/hurry":
            Connection.is_hurried = True
            self.transport.write(stub.http({}))
            return
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        found = _answer(body, Connection.is_hurried).body
        reply = head + b"content-length: %d\r\n\r\n" % len(found) + found
        takes_s = HURRIED_S if Connection.is_hurried else random.uniform(*TAKES_S)
        asyncio.get_running_loop().call_later(takes_s, self.transport.write, reply)


def _answer(body: bytes, is_hurried: bool) -> Answer:
    if b'"confidence_check"' in body:
        return check(0.62)
    done = sum(body.count(mark) for mark in TOOL_MESSAGES)
    found = WANTED.search(body)
    wanted = int(found[1]) if found else 0
    if is_hurried or done > wanted:
        return text("Nothing has changed.")
    if done < wanted:
        return calls(("calculate", {"expression": f"{done} + 1"}))
    return calls(("send_email", MAIL))


class Model(stub.Served):
    module = "tests.bench.load.model"

    @property
    def base_url(self) -> str:
        return f"{self.address}/v1"

    def hurry(self) -> None:
        urllib.request.urlopen(f"{self.address}/hurry", timeout=10).close()  # noqa: S310


if __name__ == "__main__":
    asyncio.run(stub.serve(Connection))
