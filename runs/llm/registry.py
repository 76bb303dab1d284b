"""The model clients of this process: one per provider, made when first asked for.

A client made before a fork is never used after it: its connections and locks
belong to the parent.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings

from agentops import env
from runs.errors import Fatal
from runs.llm import demo
from runs.llm.base import DEMO_MODEL, ModelClient
from runs.llm.openai import OpenAIClient, load
from runs.llm.reply import REASONING

Factory = Callable[[], ModelClient]

LIMIT_FIELDS = ("max_completion_tokens", "max_tokens")

_clients: dict[str, ModelClient] = {}
_lock = threading.RLock()


def get_client(provider: str = "") -> ModelClient:
    """The client of a provider, by default of `AGENTOPS_PROVIDER`; thread-safe.

    Raises `Fatal` naming the providers there are for one that is unknown.
    """
    name = provider or settings.AGENTOPS_PROVIDER
    with _lock:
        if name not in _clients:
            _clients[name] = _factory(name)()
        return _clients[name]


def before_forking() -> None:
    """Load what all clients need, once, for processes that are forked to share it."""
    load()


def client_for(model: str) -> ModelClient:
    """The client that runs a model: the demo model has its own wherever it is named,
    every other is asked of the installation's provider."""
    return get_client("demo" if model == DEMO_MODEL else "")


@contextmanager
def using(client: ModelClient, provider: str = "") -> Iterator[None]:
    """For tests and benches: inside the block this client is the provider's."""
    name = provider or settings.AGENTOPS_PROVIDER
    with _lock:
        before = _clients.get(name)
        _clients[name] = client
    try:
        yield
    finally:
        with _lock:
            _clients.pop(name, None)
            if before is not None:
                _clients[name] = before


def _start_anew() -> None:
    """In a child right after the fork: one thread, and nobody holds the lock."""
    global _lock
    _lock = threading.RLock()
    _clients.clear()


os.register_at_fork(after_in_child=_start_anew)


def _factory(name: str) -> Factory:
    if name not in FACTORIES:
        known = ", ".join(sorted(FACTORIES))
        raise Fatal(f"There is no model provider {name!r}; there are: {known}.")
    return FACTORIES[name]


def _openai() -> ModelClient:
    """From OPENAI_BASE_URL and OPENAI_API_KEY; OPENAI_LIMIT_FIELD=max_tokens and
    OPENAI_SCHEMAS=off are for servers that refuse the newer fields, OPENAI_ECHO for
    those that demand their reasoning back."""
    return OpenAIClient(
        settings.OPENAI_BASE_URL,
        settings.OPENAI_API_KEY,
        limit_field=env.choice(
            "OPENAI_LIMIT_FIELD", LIMIT_FIELDS[0], among=LIMIT_FIELDS
        ),
        schemas=env.flag("OPENAI_SCHEMAS", True),
        echo=env.words("OPENAI_ECHO", among=REASONING),
    )


def _demo() -> ModelClient:
    return demo.client(settings.AGENTOPS_DEMO_LATENCY_S)


FACTORIES: dict[str, Factory] = {"openai": _openai, "demo": _demo}
