"""Where an agent's request may go: decided on the address that is connected to.

A URL is taken apart once, strictly. Its host is resolved once, every address must
be one of the public internet, and the connection is made to an address that was
checked. What an admin allows (`allow_hosts`, `allow_private`) is the exception.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from runs.canonical import Json, shorten
from runs.errors import InvalidCall, NotSent
from runs.tools.base import Deadline
from runs.tools.sockets import Address, is_own, resolve

PORTS = {"http": 80, "https": 443}
MAX_URL = 4_000
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_INSIDE = (".localhost", ".local", ".localdomain", ".internal", ".home.arpa")

# Of mail, shells, databases and the like: a body could speak their language. The list
# of fetch.spec.whatwg.org, "bad port", and a few that browsers leave out.
_NOT_WEB_TEXT = """
    1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109
    110 111 113 115 117 119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526
    530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 2049 3306
    3389 3659 4045 4190 5060 5061 5432 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697
    10080 11211
"""
_NOT_WEB = frozenset(map(int, _NOT_WEB_TEXT.split()))

_V4_INSIDE = [
    ipaddress.IPv4Network(network)
    for network in [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",
    ]
]
_V6_PUBLIC = ipaddress.IPv6Network("2000::/3")
_V6_INSIDE = [
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "3fff::/20")
]
# Addresses that carry an IPv4 address: the network, and the bits to its right.
_V6_CARRYING_V4 = [
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
]


@dataclass(frozen=True)
class Target:
    """A URL taken apart: `host` is ASCII in small letters, `path` has the query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    @property
    def host_header(self) -> str:
        return self.origin.removeprefix(f"{self.scheme}://")

    @property
    def url(self) -> str:
        return self.origin + self.path


def parse(url: str) -> Target:
    """Raises ValueError saying what is wrong with the URL."""
    if len(url) > MAX_URL or _UNSAFE.search(url):
        raise ValueError("the URL is too long or has blanks or backslashes")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"this is no URL: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in PORTS:
        raise ValueError("only http:// and https:// URLs are possible")
    if "@" in parts.netloc:
        raise ValueError("a URL with a name and password is not possible")
    if port == 0:
        raise ValueError("port 0 is not possible")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return Target(
        scheme=scheme,
        host=_host(parts.hostname or ""),
        port=port or PORTS[scheme],
        path=f"{path}?{query}" if query else path,
    )


def _host(written: str) -> str:
    if "%" in written:
        raise ValueError("a host with a percent sign is not possible")
    if ":" in written:
        return str(ipaddress.IPv6Address(written))
    try:
        host = written.encode("idna").decode().lower().rstrip(".")
    except UnicodeError:
        raise ValueError("the URL's host is no name of a host") from None
    if not _NAME.fullmatch(host):
        raise ValueError("the URL's host is no name of a host")
    if _NUMERIC.fullmatch(host.rpartition(".")[2]):
        # Not 0x7f.1 or 2130706433: the resolver would take them for addresses.
        return str(ipaddress.IPv4Address(host))
    return host


@dataclass(frozen=True)
class Policy:
    """What an admin allows.

    `hosts`: if there are any, no other ("*.example.com" takes those below).
    `private`: names, addresses and networks inside that may be reached all the same.
    """

    hosts: tuple[str, ...] = ()
    private: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Mapping[str, Json]) -> Policy:
        return cls(
            hosts=_words(settings.get("allow_hosts")),
            private=_words(settings.get("allow_private")),
        )

    def check(self, target: Target) -> None:
        """What can be told without resolving the name; raises `InvalidCall`."""
        host = target.host
        if target.port in _NOT_WEB:
            raise InvalidCall(f"Port {target.port} is not one of the web.")
        if self.hosts and not any(_fits(host, allowed) for allowed in self.hosts):
            raise InvalidCall(f"Requests may not go to {shorten(host, 100)}.")
        address = _literal(host)
        if address is not None:
            self._check_address(target, address)
        elif host not in self.private and f".{host}".endswith(_INSIDE):
            raise _refused(target)

    def addresses(self, target: Target, deadline: Deadline) -> list[Address]:
        """The addresses to connect to; resolves the host this once.

        Raises `InvalidCall` if one of them is not public or there is no such host,
        `NotSent` if the resolver fails, and `TimedOut`.
        """
        self.check(target)
        address = _literal(target.host)
        found = [address] if address else _resolved(target, deadline)
        for one in found:
            self._check_address(target, one)
        if any(is_own(one) and not self._is_excepted(target, one) for one in found):
            raise _refused(target, "it is this very host")
        return found

    def _check_address(self, target: Target, address: Address) -> None:
        if not is_public(address) and not self._is_excepted(target, address):
            raise _refused(target)

    def _is_excepted(self, target: Target, address: Address) -> bool:
        if target.host in self.private:
            return True
        return any(_within(address, allowed) for allowed in self.private)


def is_public(address: Address) -> bool:
    """Whether the address, and the one it may carry, is of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _V4_INSIDE)
    for network, shift in _V6_CARRYING_V4:
        if address in network:
            carried = (int(address) >> shift) & 0xFFFFFFFF
            return is_public(ipaddress.IPv4Address(carried))
    inside = any(address in network for network in _V6_INSIDE)
    return address in _V6_PUBLIC and not inside


def _resolved(target: Target, deadline: Deadline) -> list[Address]:
    try:
        return resolve(target.host, target.port, deadline)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            raise NotSent(f"{target.host} could not be resolved now.") from error
        raise InvalidCall(f"There is no host {shorten(target.host, 100)}.") from error
    except OSError as error:
        raise InvalidCall(f"There is no host {shorten(target.host, 100)}.") from error


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _within(address: Address, allowed: str) -> bool:
    try:
        return address in ipaddress.ip_network(allowed, strict=False)
    except ValueError:
        return False


def _fits(host: str, allowed: str) -> bool:
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(word).lower() for word in value or ())


def _refused(
    target: Target, why: str = "it is not a public address of the internet"
) -> InvalidCall:
    return InvalidCall(f"Requests may not go to {shorten(target.host, 100)}: {why}.")
