"""Name look-up that ends at a deadline.

The system's resolver cannot be interrupted, so the look-up runs in a thread of
its own and is left behind when it is late.
"""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
import time
from collections.abc import Sequence

import httpcore2

Found = Sequence[str] | OSError


def addresses(host: str, port: int, ends_at: float) -> Sequence[str]:
    """The host's addresses, the system's order kept.

    `ends_at` is a moment of the monotonic clock. Raises httpcore2's ConnectError
    for an unknown name and ConnectTimeout when the look-up is late.
    """
    if _is_address(host) or host == "localhost":
        return [host]
    found: queue.SimpleQueue[Found] = queue.SimpleQueue()
    args = (host, port, found)
    threading.Thread(target=_look_up, args=args, daemon=True).start()
    try:
        answer = found.get(timeout=max(0.0, ends_at - time.monotonic()))
    except queue.Empty:
        late = f"The address of {host} was not found in time."
        raise httpcore2.ConnectTimeout(late) from None
    if isinstance(answer, OSError):
        raise httpcore2.ConnectError(f"The address of {host} is not known.")
    return answer


def _look_up(host: str, port: int, found: queue.SimpleQueue[Found]) -> None:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        found.put(error if isinstance(error, OSError) else OSError(str(error)))
    else:
        found.put(list(dict.fromkeys(str(row[4][0]) for row in rows)))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
