"""Requests reach the public internet only, in whatever way a URL is spelt."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable
from typing import Any

import pytest

from runs.errors import InvalidCall, NotSent
from runs.tools import http_policy
from runs.tools.http_policy import is_public, parse
from runs.tools.http_request import http_request
from runs.tools.sockets import _addresses, is_own
from tests.runs.tools.web import HERE, answer, ask, http, resolving

pytestmark = pytest.mark.once

FORBIDDEN = [
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[::1]/",
    "http://[::]/",
    "http://[fe80::1%25eth0]/",
    "http://0.0.0.0/",
    "http://0/",
    "http://100.64.0.1/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::1]/",
    "http://192.0.0.192/",
    "http://[fd00:ec2::254]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST/",
    "http://x.localhost/",
    "http://metadata.google.internal/",
    "http://metadata.google.internal./",
    "http://printer.local/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:25/_HELO",
    "ftp://example.com/",
    "//example.com/",
    "http:///x",
    "http://",
    "http://user:secret@example.com/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1\\@example.com/",
    "http://example.com:0/",
    "http://example.com:99999/",
    "http://exa mple.com/",
    "http://example.com/\r\nX: y",
    "http://[::1/",
    "http://" + "a" * 300 + ".com/",
    "http://-/",
    "http:127.0.0.1/",
    "http:/127.0.0.1/",
    "http:///127.0.0.1/",
    "http://127.0.0.1#@example.com/",
    "http://127.0.0.1?@example.com/",
    "http://example.com@/",
    "http://@127.0.0.1/",
    "http://127.0.0.1:80:80/",
    "http://127.0.0.0x1/",
    "http://0x7f.0.0.0x1./",
    "http://0300.0250.0.1/",
    "http://192.168.257/",
    "http://4294967295/",
    "http://127.0.0.1%00.example.com/",
    "http://%31%32%37.0.0.1/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://127.0.0.1。/",
    "http://ⓛocalhost/",
    "http://loc\u00adalhost/",
    "http://localhost\u3002/",
    "http://metadata\uff0egoogle\uff0einternal/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[::ffff:100.64.0.1]/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[2002:a00:1::]/",
    "http://[2001:db8::1]/",
    "http://[ff02::1]/",
    "http://[fec0::1]/",
    "http://[100::1]/",
    "http://[5f00::1]/",
    "http://[v1.fe80::1]/",
    "http://[127.0.0.1]/",
    "http://192.88.99.1/",
    "http://100.100.100.200/",
    "http://example.com\t.evil.example/",
    "http://example.com\u0000/",
    "\u0001http://127.0.0.1/",
    "javascript:alert(1)",
    "data:text/html,x",
    "dict://127.0.0.1:11211/stat",
    "jar:http://127.0.0.1!/",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/",
]


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError(f"a connection was made: {args}")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_connection")
@pytest.mark.parametrize("url", FORBIDDEN)
def test_s07_no_spelling_of_an_inside_address_is_connected_to(url: str) -> None:
    with pytest.raises(InvalidCall):
        ask(url, settings={})


@pytest.mark.usefixtures("no_connection")
@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::ffff:127.0.0.1"], ["fe80::1%2"]],
)
def test_s07_a_name_with_one_inside_address_is_refused(
    addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, addresses)

    with pytest.raises(InvalidCall, match="not a public address"):
        ask("http://innocent.example/", settings={})


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:4700::1", True),
        ("64:ff9b::5db8:d70e", True),
        ("2002:5db8:d70e::1", True),
        ("2001:db8::1", False),
        ("fc00::1", False),
        ("fec0::1", False),
        ("ff02::1", False),
    ],
)
def test_s07_public_addresses_are_told_from_others(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


def test_s07_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with http(answer()) as (_, server):
        monkeypatch.setattr(
            socket, "create_connection", _only_to("93.184.215.14", server.port)
        )
        asked = resolving(monkeypatch, ["93.184.215.14"], ["127.0.0.1"])

        result = ask("http://rebinding.example/", settings={})

    assert result["body"] == "hello"
    assert asked == ["rebinding.example"]
    assert b"\r\nHost: rebinding.example\r\n" in server.received[0]


def _only_to(address: str, port: int) -> Callable[..., socket.socket]:
    def connect(where: tuple[str, int], timeout: float) -> socket.socket:
        assert where == (address, 80)
        connection = socket.socket()
        connection.settimeout(timeout)
        connection.connect(("127.0.0.1", port))
        return connection

    return connect


def test_s05_a_redirect_to_an_inside_address_is_not_followed() -> None:
    with socket.create_server(("127.0.0.2", 0)) as inside:
        inside.settimeout(0.3)
        port = inside.getsockname()[1]
        moved = answer(b"", "302 Found", Location=f"http://127.0.0.2:{port}/secret")
        with (
            http(moved) as (url, server),
            pytest.raises(InvalidCall, match="not a public address"),
        ):
            ask(url)

        with pytest.raises(TimeoutError):
            inside.accept()
    assert server.connections == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "//169.254.169.254/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://[::1]/",
        "http://localhost/",
        "http://0x7f.1/",
        "http://[",
    ],
)
def test_s05_every_hop_is_checked(location: str) -> None:
    moved = answer(b"", "307 Moved", Location=location)

    with http(moved) as (url, server), pytest.raises(InvalidCall):
        ask(url)

    assert server.connections == 1


def test_s05_the_number_of_hops_is_limited() -> None:
    moved = answer(b"", "302 Found", Location="/again")

    with http(moved) as (url, server), pytest.raises(InvalidCall, match="5 redirects"):
        ask(url)

    assert server.connections == 6


def test_an_admin_may_allow_some_hosts_only() -> None:
    allowed = {**HERE, "allow_hosts": ["api.example.com", "*.partner.example"]}
    call = {"method": "GET", "url": "https://other.example/"}

    with pytest.raises(InvalidCall, match=r"may not go to other\.example"):
        http_request.vet(call, allowed)
    for host in ("api.example.com", "x.partner.example"):
        call = {"method": "GET", "url": f"https://{host}/"}
        http_request.vet(call, allowed)


def test_a_host_that_does_not_exist_is_told_to_the_model() -> None:
    with pytest.raises((InvalidCall, NotSent)):
        ask("http://no-such-host.invalid/", settings={})


@pytest.mark.parametrize(
    ("url", "parsed"),
    [
        ("HTTPS://Example.COM", "https://example.com/"),
        ("http://example.com:80/a?b#c", "http://example.com/a?b"),
        ("http://example.com.:8080/", "http://example.com:8080/"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://[2606:4700::0001]/", "http://[2606:4700::1]/"),
        ("http://a.example/%2e%2E/x%20y", "http://a.example/%2e%2E/x%20y"),
    ],
)
def test_urls_have_one_form(url: str, parsed: str) -> None:
    assert parse(url).url == parsed
    assert parse(parsed).url == parsed


def test_the_resolver_names_each_address_once() -> None:
    assert [str(address) for address in _addresses("127.0.0.1", 80)] == ["127.0.0.1"]


@pytest.mark.usefixtures("no_connection")
@pytest.mark.parametrize("port", [22, 25, 587, 3306, 5432, 6379, 11211])
def test_a_port_where_no_web_server_listens_is_refused(port: int) -> None:
    with pytest.raises(InvalidCall, match=f"Port {port}"):
        ask(f"http://example.com:{port}/", settings={})


def test_a_public_address_of_this_very_host_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_policy, "is_public", lambda address: True)

    with (
        http(answer()) as (url, server),
        pytest.raises(InvalidCall, match="this very host"),
    ):
        ask(url, settings={})

    assert server.connections == 0


def test_an_address_of_somebody_else_is_not_our_own() -> None:
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("192.0.2.1"))
    assert not is_own(ipaddress.ip_address("2001:db8::1"))
