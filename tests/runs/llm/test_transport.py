"""The transport below the SDK: connections per thread, proxies, names, deadlines."""

from __future__ import annotations

import gc
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpcore2
import httpx2
import psutil
import pytest

from runs.errors import NotSent, StepError
from runs.llm import resolve
from runs.llm.base import Request
from runs.llm.openai import OpenAIClient
from runs.llm.transport import deadline, proxy_for, remaining
from tests.support.provider import ScriptedProvider
from tests.support.replies import text
from tests.support.wait import HANGS_S, cut_short

REQUEST = Request(
    model="scripted-model",
    messages=[{"role": "user", "content": "Say hello."}],
    max_output_tokens=50,
    deadline_s=5.0,
)


@contextmanager
def silent_listener() -> Iterator[int]:
    """Takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_thread_keeps_its_connection() -> None:
    provider = ScriptedProvider(then=text("ok"))
    with provider.serve() as base_url:
        client = OpenAIClient(base_url, "")
        for _ in range(3):
            client.complete(REQUEST)
        open_files = _connections_to(base_url)
        client.close()

    assert open_files == 1


def test_a_thread_that_ends_takes_its_connection_along() -> None:
    provider = ScriptedProvider(then=text("ok"))
    with provider.serve() as base_url:
        client = OpenAIClient(base_url, "")
        thread = threading.Thread(target=client.complete, args=(REQUEST,))
        thread.start()
        thread.join(10)
        gc.collect()
        open_files = _connections_to(base_url)
        client.close()

    assert open_files == 0


def _connections_to(base_url: str) -> int:
    port = httpx2.URL(base_url).port
    ends = psutil.Process().net_connections("tcp")
    open_ends = [end for end in ends if end.status == psutil.CONN_ESTABLISHED]
    return len([end for end in open_ends if getattr(end.raddr, "port", 0) == port])


def test_a_tls_handshake_ends_at_the_deadline() -> None:
    with silent_listener() as port:
        client = OpenAIClient(f"https://127.0.0.1:{port}/v1", "")
        with cut_short(), pytest.raises(NotSent):
            client.complete(Request("m", REQUEST.messages, 1, 0.4))
        client.close()


def test_a_name_look_up_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = threading.Event()

    def look_up(*args: object, **options: object) -> list[object]:
        stuck.wait(HANGS_S)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    with cut_short(), pytest.raises(httpcore2.ConnectTimeout):
        resolve.addresses("models.example", 443, time.monotonic() + 0.2)

    stuck.set()


def test_a_name_that_is_not_known_is_not_sent() -> None:
    client = OpenAIClient("http://no-such-host.invalid/v1", "")

    with pytest.raises(NotSent, match=r"no-such-host\.invalid"):
        client.complete(REQUEST)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_an_address_is_not_looked_up(host: str) -> None:
    assert resolve.addresses(host, 80, time.monotonic()) == [host]


def test_the_deadline_holds_inside_its_block() -> None:
    with deadline(5):
        assert 4 < remaining() <= 5

    with deadline(0), pytest.raises(httpcore2.ReadTimeout):
        remaining()


@pytest.mark.parametrize(
    ("environment", "url", "expected"),
    [
        ({}, "https://models.example/v1", None),
        ({"https_proxy": "http://p:1"}, "https://models.example/v1", "http://p:1"),
        ({"https_proxy": "p:1"}, "https://models.example/v1", "http://p:1"),
        ({"https_proxy": "http://p:1"}, "http://models.example/v1", None),
        ({"all_proxy": "http://p:1"}, "http://models.example/v1", "http://p:1"),
        (
            {"https_proxy": "http://p:1", "no_proxy": "models.example"},
            "https://models.example/v1",
            None,
        ),
    ],
)
def test_it_takes_the_proxy_of_the_environment(
    environment: dict[str, str],
    url: str,
    expected: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert proxy_for(httpx2.URL(url)) == expected


def test_it_asks_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = ScriptedProvider(text("by proxy"))
    with proxy.serve() as base_url:
        monkeypatch.setenv("http_proxy", base_url.removesuffix("/v1"))
        monkeypatch.delenv("no_proxy", raising=False)
        client = OpenAIClient("http://models.example/v1", "")
        reply = client.complete(REQUEST)
        client.close()

    assert reply.content == "by proxy"
    assert proxy.requests[0].headers["host"] == "models.example"


def test_an_endless_reply_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.llm.transport.MAX_REPLY_BYTES", 1000)
    provider = ScriptedProvider(text("x" * 5000), text("ok"))
    with provider.serve() as base_url:
        client = OpenAIClient(base_url, "")
        with pytest.raises(StepError, match="too long"):
            client.complete(REQUEST)
        reply = client.complete(REQUEST)
        client.close()

    assert reply.content == "ok"
