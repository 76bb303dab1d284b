"""What a notifier is, and every one there is.

    @notifier
    class Pager(Notifier):
        name = "pager"

        def send(self, address, said): ...

`reviews.outbox` does the rest: due times, tries, backoff, giving up.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import ClassVar, TypeVar

from reviews.notifiers.message import Message
from runs.errors import AgentOpsError

_PACKAGE = "reviews.notifiers"
_notifiers: dict[str, Notifier] = {}


class Undeliverable(AgentOpsError):
    """The message could not be delivered.

    `permanent` tells that another try would end the same way.
    """

    def __init__(self, message: str = "", *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


class Notifier:
    """One channel; there is one object of it per process, used by one thread.

    `label` and `hint` are for the form in which people add a route. `groups` tells
    that one message may speak of several items, `is_secret` that who knows an address
    may send to it.
    """

    name: ClassVar[str]
    label: ClassVar[str] = ""
    hint: ClassVar[str] = ""
    groups: ClassVar[bool] = True
    is_secret: ClassVar[bool] = True

    def clean(self, address: str) -> str:
        """The address as it is kept; raises ValueError saying what is wrong."""
        return address

    def send(self, address: str, said: Message) -> None:
        """Deliver it; raises `Undeliverable`.

        Called outside any transaction; ends within `notify_deadline_s` or so.
        """
        raise NotImplementedError


N = TypeVar("N", bound=type[Notifier])


def notifier(cls: N) -> N:
    """Add a notifier; raises ValueError if its name is taken."""
    known = _notifiers.get(cls.name)
    if known is not None and type(known) is not cls:
        raise ValueError(f"two notifiers are called {cls.name!r}")
    _notifiers[cls.name] = cls()
    return cls


def all_notifiers() -> list[Notifier]:
    _discover()
    return [_notifiers[name] for name in sorted(_notifiers)]


def find(name: str) -> Notifier:
    """Raises `Undeliverable` for a channel that does not exist."""
    _discover()
    if name not in _notifiers:
        raise Undeliverable(f"There is no channel called {name}.", permanent=True)
    return _notifiers[name]


def groups(name: str) -> bool:
    """May one message of this channel speak of several items?"""
    _discover()
    return name in _notifiers and _notifiers[name].groups


@cache
def _discover() -> None:
    package = import_module(_PACKAGE)
    for info in pkgutil.iter_modules(package.__path__, prefix=f"{_PACKAGE}."):
        import_module(info.name)
