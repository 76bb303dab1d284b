"""Names resolved and sockets ended in time, whatever the other side does."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from runs.errors import TimedOut
from runs.tools.base import Deadline

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def resolve(host: str, port: int, deadline: Deadline) -> list[Address]:
    """Every address of the host, once each, in the resolver's order.

    Raises OSError when there is none and `TimedOut` at the deadline: the system's
    resolver has a patience of its own, so it is asked in a thread.
    """
    found: list[Address] = []
    failed: list[OSError] = []

    def ask() -> None:
        try:
            found.extend(_addresses(host, port))
        except OSError as error:
            failed.append(error)

    asking = threading.Thread(target=ask, daemon=True, name="resolve")
    asking.start()
    asking.join(deadline.remaining())
    if asking.is_alive():
        raise TimedOut(f"The name {host} was not resolved within the deadline.")
    if failed:
        raise failed[0]
    return found


def _addresses(host: str, port: int) -> list[Address]:
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host} is no name of a host") from error
    texts = dict.fromkeys(str(info[4][0]).partition("%")[0] for info in infos)
    return [ipaddress.ip_address(text) for text in texts]


def is_own(address: Address) -> bool:
    """Whether a connection to it would stay on this host: a public address of ours is
    not behind the firewall that others meet. Nothing is sent.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(address), 9))
            return ipaddress.ip_address(probe.getsockname()[0]) == address
    except (OSError, ValueError):
        return False


def connect(addresses: list[Address], port: int, deadline: Deadline) -> socket.socket:
    """A connection to the first address that answers; it has the deadline's timeout.

    An address that stays silent uses up only its share of the time. Raises OSError
    of the last one that did not answer, and `TimedOut`.
    """
    last = OSError("There is no address to connect to.")
    for number, address in enumerate(addresses):
        share = deadline.remaining() / (len(addresses) - number)
        try:
            connection = socket.create_connection((str(address), port), timeout=share)
        except OSError as error:
            last = error
        else:
            connection.settimeout(deadline.remaining())
            return connection
    raise last


@contextmanager
def at_deadline(deadline: Deadline, act: Callable[[], None]) -> Iterator[None]:
    """Call `act` in another thread if the block still runs at the deadline."""
    timer = threading.Timer(deadline.remaining(), act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def ended_at(connection: socket.socket, deadline: Deadline) -> Iterator[None]:
    """Whoever waits on the connection wakes up at the deadline, with an OSError.

    Works through a copy of the descriptor, which outlives a close in between and a
    change to TLS, and so can never hit a stranger's socket.
    """
    with connection.dup() as copy, at_deadline(deadline, lambda: shut(copy)):
        yield


def shut(connection: socket.socket) -> None:
    """End both directions, so that whoever waits on the socket wakes up."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def shut_descriptor(descriptor: int) -> None:
    """`shut` for a socket that a library owns; the descriptor stays open."""
    with (
        contextlib.suppress(OSError),
        socket.socket(fileno=os.dup(descriptor)) as copy,
    ):
        shut(copy)
