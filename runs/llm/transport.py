"""HTTP as the model client needs it: a total deadline, a connection per thread.

The SDK's timeouts are per read and its shared pool is O(connections) per request;
here the deadline covers everything (name look-up, connect, TLS, each byte of the
reply, redirects), and a thread meets only the one connection it keeps.

    with deadline(120.0):
        sdk.post(...)

Failures are raised as httpx2's exceptions, whichever transport is below.
"""

from __future__ import annotations

import ssl
import threading
import time
import urllib.request
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpcore2
import httpx2

from runs.llm import resolve

CONNECT_S = 30.0
KEEPALIVE_S = 60.0
WRITE_BYTES = 64 * 1024
MAX_REPLY_BYTES = 8 * 1024 * 1024
PIECE_BYTES = 64 * 1024
PACKINGS = frozenset({"gzip", "x-gzip", "deflate"})
PROXY_PORTS = {"https": 443, "socks5": 1080, "socks5h": 1080}

_thread = threading.local()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Inside the block the requests of this thread end within `seconds`."""
    _thread.ends_at = time.monotonic() + seconds
    try:
        yield
    finally:
        _thread.ends_at = None


def remaining(error: type[Exception] = httpcore2.ReadTimeout) -> float:
    """Seconds left for this thread's request; raises `error` when there are none."""
    ends_at: float | None = getattr(_thread, "ends_at", None)
    if ends_at is None:
        return CONNECT_S
    left = ends_at - time.monotonic()
    if left <= 0:
        raise error("The deadline has passed.")
    return left


class ThreadTransport(httpx2.BaseTransport):
    """One kept connection per thread; a thread that ends takes its own along.

    Replies come unpacked, at most `MAX_REPLY_BYTES` of them.

    Proxies come from the environment as everywhere (HTTPS_PROXY, NO_PROXY …).
    """

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: weakref.WeakSet[_Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._ssl: ssl.SSLContext | None = None
        self._proxies: dict[tuple[str, bytes], str | None] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        connection = self._connection(request.url)
        try:
            found = connection.pool.handle_request(_for_core(request))
        except Exception as error:
            connection.close()
            raise _as_httpx2(error, request) from error
        headers = httpx2.Headers(found.headers)
        packing = headers.pop("content-encoding", "").strip().lower()
        return httpx2.Response(
            status_code=found.status,
            headers=headers,
            stream=_Body(found.stream, packing, connection, request),
            extensions=found.extensions,
        )

    def close(self) -> None:
        for connection in list(self._all):
            connection.close()

    def _connection(self, url: httpx2.URL) -> _Connection:
        proxy = self._proxy(url)
        kept: _Connection | None = getattr(self._own, "connection", None)
        if kept is None or kept.proxy != proxy:
            kept = self._own.connection = _Connection(proxy, self._context(url, proxy))
            with self._lock:
                self._all.add(kept)
        return kept

    def _proxy(self, url: httpx2.URL) -> str | None:
        """Looked up once per host: reading the environment costs 0.1 ms."""
        key = (url.scheme, url.netloc)
        if key not in self._proxies:
            self._proxies[key] = proxy_for(url)
        return self._proxies[key]

    def _context(self, url: httpx2.URL, proxy: str | None) -> ssl.SSLContext | None:
        """One for all threads: reading the certificates takes 20 ms and 1 MB."""
        if url.scheme != "https" and not (proxy or "").startswith("https"):
            return None
        with self._lock:
            if self._ssl is None:
                self._ssl = httpx2.create_ssl_context()
            return self._ssl


class _Connection:
    """The pool of one connection that belongs to a thread."""

    def __init__(self, proxy: str | None, context: ssl.SSLContext | None) -> None:
        self.proxy = proxy
        self.pool = _pool(proxy, context)

    def close(self) -> None:
        self.pool.close()

    def __del__(self) -> None:
        self.close()


class _Body(httpx2.SyncByteStream):
    """A reply's bytes: no more than `MAX_REPLY_BYTES`, errors as httpx2's."""

    def __init__(
        self,
        stream: Any,
        packing: str,
        connection: _Connection,
        request: httpx2.Request,
    ) -> None:
        self._stream = stream
        self._packing = packing
        self._connection = connection
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        try:
            for chunk in _unpacked(self._stream, self._packing):
                size += len(chunk)
                if size > MAX_REPLY_BYTES:
                    raise httpcore2.ReadError("The reply is too long.")
                yield chunk
        except Exception as error:
            self._connection.close()
            raise _as_httpx2(error, self._request) from error

    def close(self) -> None:
        self._stream.close()


def _unpacked(stream: Any, packing: str) -> Iterator[bytes]:
    """The stream's bytes, gzip and deflate unpacked, never much at once: a few
    kilobytes may stand for gigabytes. Any other packing is left as it is."""
    if packing not in PACKINGS:
        yield from stream
        return
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        for chunk in stream:
            yield from _pieces(unpacker, chunk)
    except zlib.error:
        words = "The reply cannot be unpacked."
        raise httpcore2.RemoteProtocolError(words) from None


def _pieces(unpacker: Any, chunk: bytes) -> Iterator[bytes]:
    piece = unpacker.decompress(chunk, PIECE_BYTES)
    while piece:
        yield piece
        piece = unpacker.decompress(unpacker.unconsumed_tail, PIECE_BYTES)


class _Backend(httpcore2.NetworkBackend):
    """Sockets whose every wait ends at the thread's deadline."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        ends_at = time.monotonic() + min(CONNECT_S, remaining(httpcore2.ConnectTimeout))
        failed: Exception = httpcore2.ConnectError(f"{host} has no address.")
        for address in resolve.addresses(host, port, ends_at):
            left = ends_at - time.monotonic()
            if left <= 0:
                raise httpcore2.ConnectTimeout(f"{host} did not accept in time.")
            try:
                stream = httpcore2.SyncBackend().connect_tcp(
                    address, port, timeout=left, socket_options=socket_options or []
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
            else:
                return _Stream(stream)
        raise failed


class _Stream(httpcore2.NetworkStream):
    """What is written waits for more, so that head and body leave together."""

    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner
        self._unsent = b""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        # The core does not mind a failed write either: the reply says more.
        with suppress(httpcore2.WriteError):
            self._send()
        return self._inner.read(max_bytes, remaining())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent += buffer
        if len(self._unsent) >= WRITE_BYTES:
            self._send()

    def _send(self) -> None:
        buffer, self._unsent = self._unsent, b""
        for start in range(0, len(buffer), WRITE_BYTES):
            piece = buffer[start : start + WRITE_BYTES]
            self._inner.write(piece, remaining(httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = min(CONNECT_S, remaining(httpcore2.ConnectTimeout))
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


_backend = _Backend()


def _pool(
    proxy: str | None, context: ssl.SSLContext | None
) -> httpcore2.ConnectionPool:
    return httpcore2.ConnectionPool(
        ssl_context=context,
        proxy=_core_proxy(proxy, context) if proxy else None,
        max_connections=1,
        keepalive_expiry=KEEPALIVE_S,
        network_backend=_backend,
    )


def _core_proxy(proxy: str, context: ssl.SSLContext | None) -> httpcore2.Proxy:
    url = httpx2.URL(proxy)
    port = url.port or PROXY_PORTS.get(url.scheme, 80)
    bare = f"{url.scheme}://{url.host}:{port}"
    login = (url.username, url.password) if url.username else None
    over_tls = context if url.scheme == "https" else None
    return httpcore2.Proxy(bare, auth=login, ssl_context=over_tls)


def proxy_for(url: httpx2.URL) -> str | None:
    """The proxy the environment names for this address, None for a direct way."""
    proxies = urllib.request.getproxies()
    found = proxies.get(url.scheme) or proxies.get("all")
    if not found or urllib.request.proxy_bypass(url.netloc.decode()):
        return None
    return found if "://" in found else f"http://{found}"


def _for_core(request: httpx2.Request) -> httpcore2.Request:
    return httpcore2.Request(
        method=request.method,
        url=httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        ),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _as_httpx2(error: Exception, request: httpx2.Request) -> Exception:
    """The same failure under httpx2's name: the SDK and our callers know those."""
    for kind in type(error).__mro__:
        named: type[httpx2.RequestError] | None = getattr(httpx2, kind.__name__, None)
        if kind.__module__.startswith("httpcore2") and named is not None:
            return named(str(error), request=request)
    return error
